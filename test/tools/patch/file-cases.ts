/** Files, a patch, and each file that it changes as it is then; null: removed. */
export type FileCase = readonly [
  title: string,
  files: Readonly<Record<string, string>>,
  patch: string,
  changed: Readonly<Record<string, string | null>>,
]

const NONE = '\\ No newline at end of file'

const wrap = (body: string): string => `*** Begin Patch\n${body}\n*** End Patch`
const update = (title: string, old: string, body: string, updated: string): FileCase => {
  return [title, { f: old }, wrap(`*** Update File: f\n${body}`), { f: updated }]
}

/** Patches that fit: whole files, several at once, line ends and the end of the file. */
export const FILE_CASES: readonly FileCase[] = [
  ['a file is added', {}, wrap('*** Add File: f\n+a\n+b'), { f: 'a\nb\n' }],
  ['an empty file is added', {}, wrap('*** Add File: f'), { f: '' }],
  ['a file of one empty line is added', {}, wrap('*** Add File: f\n+'), { f: '\n' }],
  ['empty lines of an added file are kept', {}, wrap('*** Add File: f\n+\n+a\n+\n+'), { f: '\na\n\n\n' }],
  ['a file without a final newline is added', {}, wrap(`*** Add File: f\n+a\n+b\n${NONE}`), { f: 'a\nb' }],
  [
    'an added file keeps the line ends of the patch',
    {},
    '*** Begin Patch\n*** Add File: f\n+a\r\n+b\n+c\r\n*** End Patch',
    { f: 'a\r\nb\nc\r\n' },
  ],
  [
    'an added file with CRLF may lack its final newline',
    {},
    `*** Begin Patch\r\n*** Add File: f\r\n+a\r\n+b\r\n${NONE}\r\n*** End Patch\r\n`,
    { f: 'a\r\nb' },
  ],
  ['an added file keeps its byte order mark', {}, wrap('*** Add File: f\n+\u{FEFF}a'), { f: '\u{FEFF}a\n' }],
  [
    'an added line may look like a mark',
    {},
    wrap('*** Add File: f\n+*** End Patch\n++\n+@@\n+-'),
    { f: '*** End Patch\n+\n@@\n-\n' },
  ],
  ['an added file may be in folders', {}, wrap('*** Add File: a/b/c.txt\n+x'), { 'a/b/c.txt': 'x\n' }],
  [
    'a path may have spaces and letters of any script',
    {},
    wrap('*** Add File: my dir/ñandú 漢.txt\n+x'),
    { 'my dir/ñandú 漢.txt': 'x\n' },
  ],
  ['a path may look like a mark', {}, wrap('*** Add File: *** End Patch\n+x'), { '*** End Patch': 'x\n' }],
  ['a path is brought into its one spelling', {}, wrap('*** Add File: ./a//b\n+x'), { 'a/b': 'x\n' }],
  ['a file is deleted', { f: 'a\n' }, wrap('*** Delete File: f'), { f: null }],
  ['an empty file is deleted', { f: '' }, wrap('*** Delete File: f'), { f: null }],
  [
    'a file is moved',
    { f: 'a\nb' },
    wrap('*** Update File: f\n*** Move to: d/g'),
    { 'd/g': 'a\nb', f: null },
  ],
  ['an empty file is moved', { f: '' }, wrap('*** Update File: f\n*** Move to: g'), { g: '', f: null }],
  [
    'a file is moved and changed',
    { f: 'a\nb\n' },
    wrap('*** Update File: f\n*** Move to: g\n@@\n-a\n+A'),
    { g: 'A\nb\n', f: null },
  ],
  [
    'a file is moved and changed without @@',
    { f: 'a\nb\n' },
    wrap('*** Update File: f\n*** Move to: g\n-a\n+A'),
    { g: 'A\nb\n', f: null },
  ],
  [
    'four kinds of sections go together',
    { u: 'a\n', d: 'x\n', m: 'y\n' },
    wrap(
      '*** Add File: n\n+1\n*** Update File: u\n-a\n+A\n*** Delete File: d\n*** Update File: m\n*** Move to: k',
    ),
    { n: '1\n', u: 'A\n', d: null, k: 'y\n', m: null },
  ],
  [
    'two files are updated',
    { f: 'a\n', g: 'a\n' },
    wrap('*** Update File: f\n@@\n-a\n+1\n*** Update File: g\n@@\n-a\n+2'),
    { f: '1\n', g: '2\n' },
  ],
  [
    'a section may follow the end of a file',
    { f: 'a\n', g: 'x\n' },
    wrap('*** Update File: f\n+b\n*** End of File\n*** Delete File: g'),
    { f: 'a\nb\n', g: null },
  ],
  [
    '100 files are not too many',
    {},
    wrap(Array.from({ length: 100 }, (_, at) => `*** Add File: f${at}`).join('\n')),
    Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`f${at}`, ''])),
  ],
  [
    'blank lines may surround the patch',
    { f: 'a\n' },
    `\n \n\t\r\n${wrap('*** Delete File: f')}\n\n  \n`,
    { f: null },
  ],
  [
    'the whole patch may have CRLF',
    { f: 'a\nb\n' },
    '*** Begin Patch\r\n*** Update File: f\r\n@@ a\r\n-b\r\n+B\r\n*** End of File\r\n*** End Patch\r\n',
    { f: 'a\nB\n' },
  ],
  update('lines are added to an empty file', '', '@@\n+a\n+b', 'a\nb\n'),
  update('lines are appended to an empty file', '', '@@\n+a\n*** End of File', 'a\n'),
  update('a line without newline is added to an empty file', '', `@@\n+a\n${NONE}`, 'a'),
  update('an empty line is added to an empty file', '', '@@\n+', '\n'),
  update('a file of one newline is one empty line', '\n', '@@\n-\n+a', 'a\n'),
  update('a file of one newline becomes empty', '\n', '@@\n-', ''),
  update('a file of a byte order mark only is empty', '\u{FEFF}', '@@\n+a', '\u{FEFF}a\n'),
  update('a final newline is added', 'a\nb', `@@\n a\n-b\n${NONE}\n+b`, 'a\nb\n'),
  update('a final newline is removed', 'a\nb\n', `@@\n a\n-b\n+b\n${NONE}`, 'a\nb'),
  update('both sides may lack the final newline', 'a\nb', `@@\n a\n-b\n${NONE}\n+c\n${NONE}`, 'a\nc'),
  update('context may lack the final newline', 'a\nb', `@@\n-a\n+A\n b\n${NONE}`, 'A\nb'),
  update('a line is appended after one without newline', 'a', `@@\n-a\n${NONE}\n+a\n+b`, 'a\nb\n'),
  update('the last line goes and a newline comes', 'a\nb', `@@\n a\n-b\n${NONE}`, 'a\n'),
  update('the last line goes and the newline with it', 'a\nb\n', `@@\n-a\n-b\n+a\n${NONE}`, 'a'),
  update('the only line without newline goes', 'a', `@@\n-a\n${NONE}`, ''),
  update('an appended line may lack its newline', 'a\n', `@@\n+b\n${NONE}`, 'a\nb'),
  update('a mark for no newline is an end of file', 'x\na\nx', `@@\n-x\n${NONE}\n+y\n${NONE}`, 'x\na\ny'),
  update(
    'a mark for no newline goes with *** End of File',
    'a\n',
    `@@\n-a\n+b\n${NONE}\n*** End of File`,
    'b',
  ),
  update('an appended line keeps the missing newline', 'a\nb', '@@\n+c\n*** End of File', 'a\nb\nc'),
  update(
    'added lines end as those around them',
    'a\r\nb\r\nc\nd\ne\n',
    '@@\n a\n+x\n b\n@@\n d\n+y\n e',
    'a\r\nx\r\nb\r\nc\nd\ny\ne\n',
  ),
  update(
    'where those around are even, added lines end as most of the file',
    'a\r\nb\nc\r\nd\r\n',
    '@@\n a\n+x\n b',
    'a\r\nx\r\nb\nc\r\nd\r\n',
  ),
  update(
    'where the file is even too, added lines end with a newline',
    'a\r\nb\n',
    '@@\n a\n+x\n b',
    'a\r\nx\nb\n',
  ),
  update(
    'an appended line ends as most of the file',
    'a\r\nb\r\nc\n',
    '@@\n+d\n*** End of File',
    'a\r\nb\r\nc\nd\r\n',
  ),
  update('a line without an end gets that of the file', 'a\r\nb', '@@\n b\n+c', 'a\r\nb\r\nc'),
  update('lines that are not touched keep mixed ends', 'a\r\nb\nc\r\nd\n', '@@\n-c\n+C', 'a\r\nb\nC\r\nd\n'),
  update(
    'a patch with CRLF does not change the ends of a file',
    'a\nb\n',
    '@@\r\n a\r\n-b\r\n+B\r',
    'a\nB\n',
  ),
  update('a file without line ends takes those of the patch', 'a', '@@\r\n a\r\n+b\r', 'a\r\nb'),
  update('an empty file takes the line ends of the patch', '', '@@\n+a\r\n+b', 'a\r\nb\n'),
  update('a lone carriage return is a letter', 'a\rb\nc\n', '@@\n-a\rb\n+a\rB', 'a\rB\nc\n'),
  update('of two carriage returns the first is a letter', 'a\r\r\nb\r\n', '@@\n-a\r\r\n+x', 'x\r\nb\r\n'),
]
