const ESC = '\u001b'
const BEL = '\u0007'
const ST = `${ESC}\\`

function characters(...codes: readonly number[]): readonly string[] {
  return codes.map((code) => String.fromCodePoint(code))
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}

/** What terminals obey, or what hides and turns around text on them: one hundred of them. */
export const ESCAPE_PAYLOADS: readonly string[] = [
  // C0 without tab and line feed, and DEL.
  ...characters(...range(0x00, 0x08), ...range(0x0b, 0x1f), 0x7f),
  'rm -rf ~\rls   ',
  // C1: some terminals take these for the two-character sequences of ESC.
  ...characters(0x80, 0x84, 0x85, 0x88, 0x8d, 0x8e, 0x90, 0x98, 0x9c, 0x9e, 0x9f),
  '\u009b2J',
  `\u009d0;title${BEL}`,
  // CSI.
  ...['2J', '3J', 'H', '31m', '6n', '?1049h', '1;1H', '2K', '?25l', '5i', '>c', '1A'].map(
    (sequence) => `${ESC}[${sequence}`,
  ),
  // OSC: titles, links, clipboard, colours, notifications, files.
  `${ESC}]0;title${BEL}`,
  `${ESC}]0;title${ST}`,
  `${ESC}]8;;https://evil.example${ST}safe${ESC}]8;;${ST}`,
  `${ESC}]52;c;ZXZpbA==${BEL}`,
  `${ESC}]4;1;?${BEL}`,
  `${ESC}]10;?${BEL}`,
  `${ESC}]777;notify;a;b${BEL}`,
  `${ESC}]1337;File=inline=1:AAAA${BEL}`,
  // DCS, APC, PM, SOS, resets and modes.
  `${ESC}P$q"p${ST}`,
  `${ESC}P+q544e${ST}`,
  `${ESC}Ptmux;${ESC}${ESC}[2J${ST}`,
  `${ESC}_Ga=T;AAAA${ST}`,
  `${ESC}^private${ST}`,
  `${ESC}Xstring${ST}`,
  `${ESC}c`,
  `${ESC}=`,
  `${ESC}#8`,
  `${ESC}(0`,
  // Direction: embeddings, overrides, isolates, marks.
  ...characters(...range(0x202a, 0x202e), ...range(0x2066, 0x2069), 0x200e, 0x200f, 0x061c),
  // No width at all.
  ...characters(0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0x00ad, 0x180e, 0x034f),
  // Ends of lines that are none, halves of pairs, a tag.
  ...characters(0x2028, 0x2029, 0xd800, 0xdfff, 0xe0041),
]

/** Everything that must not be in what a terminal gets; a carriage return only before a line feed. */
export const RAW =
  // oxlint-disable-next-line no-control-regex -- the characters that must not be there
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u034f]|\r(?!\n)/u
