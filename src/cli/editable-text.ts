const LINE_END = '⏎'
const TAB = '⇥'

/** A text as one line of an editor: signs stand for line ends and tabs, and what a terminal would obey is gone. */
export function toEditable(text: string): string {
  return (
    text
      .replaceAll(/\r\n?|\n/gu, LINE_END)
      .replaceAll('\t', TAB)
      // oxlint-disable-next-line no-control-regex -- the characters that a terminal obeys
      .replaceAll(/[\u0000-\u001f\u007f-\u009f]/gu, '')
  )
}

/** The text that a line of the editor stands for. */
export function fromEditable(line: string): string {
  return line.replaceAll(LINE_END, '\n').replaceAll(TAB, '\t')
}
