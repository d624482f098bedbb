/** The text of a patch, and a part of the message that it is refused with as `patch_invalid`. */
export type InvalidCase = readonly [title: string, patch: string, message: string]

const wrap = (body: string): string => `*** Begin Patch\n${body}\n*** End Patch`
const update = (body: string): string => wrap(`*** Update File: f\n${body}`)

/** Patches that cannot be read, whatever the files hold. */
export const INVALID_CASES: readonly InvalidCase[] = [
  ['an empty text', '', 'patch line 2: expected *** Begin Patch, found the end of the text'],
  ['blank lines only', ' \n\t\n', 'expected *** Begin Patch, found the end of the text'],
  ['some other text', 'hello', 'patch line 1: expected *** Begin Patch, found "hello"'],
  [
    'text before the patch',
    `I will\n${wrap('*** Delete File: f')}`,
    'patch line 1: expected *** Begin Patch, found "I will"',
  ],
  [
    'text after the patch',
    `${wrap('*** Delete File: f')}\n\nDone.`,
    'patch line 5: expected nothing after *** End Patch, found "Done."',
  ],
  [
    'two patches in one text',
    `${wrap('*** Delete File: f')}\n${wrap('*** Delete File: g')}`,
    'patch line 4: expected nothing after *** End Patch',
  ],
  [
    'a here-document around it',
    `apply_patch <<'EOF'\n${wrap('*** Delete File: f')}\nEOF`,
    'patch line 1: expected *** Begin Patch',
  ],
  [
    'a code fence around it',
    `\`\`\`\n${wrap('*** Delete File: f')}\n\`\`\``,
    'patch line 1: expected *** Begin Patch',
  ],
  ['a space before the begin', ` ${wrap('*** Delete File: f')}`, 'patch line 1: expected *** Begin Patch'],
  [
    'a space after the begin',
    '*** Begin Patch \n*** Delete File: f\n*** End Patch',
    'patch line 1: expected *** Begin Patch, found "*** Begin Patch "',
  ],
  [
    'a byte order mark before the begin',
    `\u{FEFF}${wrap('*** Delete File: f')}`,
    'patch line 1: expected *** Begin Patch, found "\\ufeff*** Begin Patch"',
  ],
  ['the begin in lower case', '*** begin patch\n*** End Patch', 'patch line 1: expected *** Begin Patch'],
  [
    'no section',
    '*** Begin Patch\n*** End Patch',
    'patch line 2: expected a section such as *** Update File: path, found "*** End Patch"',
  ],
  [
    'no end after a delete',
    '*** Begin Patch\n*** Delete File: f',
    'patch line 3: expected *** Add File: path, *** Delete File: path, *** Update File: path or *** End Patch, found the end of the text',
  ],
  [
    'no end after an add',
    '*** Begin Patch\n*** Add File: f\n+a',
    'patch line 4: expected *** Add File: path',
  ],
  [
    'no end after a hunk',
    '*** Begin Patch\n*** Update File: f\n-a',
    'patch line 4: expected *** Add File: path',
  ],
  ['the begin alone', '*** Begin Patch', 'patch line 2: expected *** Add File: path'],
  [
    'a space after the end',
    '*** Begin Patch\n*** Delete File: f\n*** End Patch ',
    'patch line 3: expected *** Add File: path',
  ],
  [
    'an end without its stars',
    '*** Begin Patch\n*** Delete File: f\nEnd Patch',
    'patch line 3: expected *** Add File: path',
  ],
  ['a section of another kind', wrap('*** Rename File: f'), 'patch line 2: expected *** Add File: path'],
  ['a section in lower case', wrap('*** update file: f\n-a'), 'patch line 2: expected *** Add File: path'],
  ['a begin inside', wrap('*** Begin Patch'), 'patch line 2: expected *** Add File: path'],
  ['a section without colon', wrap('*** Add File f\n+a'), 'patch line 2: expected *** Add File: path'],
  ['the header of a git diff', wrap('diff --git a/f b/f'), 'patch line 2: expected *** Add File: path'],
  [
    'the names of a unified diff',
    wrap('--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b'),
    'patch line 2: expected *** Add File: path',
  ],
  ['a hunk before any section', wrap('@@\n-a\n+b'), 'patch line 2: expected *** Add File: path'],
  [
    'a blank line before the first section',
    wrap('\n*** Delete File: f'),
    'patch line 2: expected *** Add File: path',
  ],
  [
    'a blank line after a delete',
    wrap('*** Delete File: f\n\n*** Delete File: g'),
    'patch line 3: expected *** Add File: path',
  ],
  ['a line after a delete', wrap('*** Delete File: f\n-a'), 'patch line 3: expected *** Add File: path'],
  [
    'an add without a path',
    wrap('*** Add File: \n+a'),
    'patch line 2: expected a path after *** Add File:, found "*** Add File: "',
  ],
  [
    'an add without a path and space',
    wrap('*** Add File:\n+a'),
    'patch line 2: expected a path after *** Add File:',
  ],
  [
    'a delete without a path',
    wrap('*** Delete File: '),
    'patch line 2: expected a path after *** Delete File:',
  ],
  [
    'an update without a path',
    wrap('*** Update File:  \n-a'),
    'patch line 2: expected a path after *** Update File:',
  ],
  ['a move without a path', update('*** Move to: \n-a'), 'patch line 3: expected a path after *** Move to:'],
  [
    'an added line without its +',
    wrap('*** Add File: f\n+a\nb'),
    'patch line 4: expected a line of the new file with + in front (for an empty line: + alone), found "b"',
  ],
  [
    'an empty line in an added file without its +',
    wrap('*** Add File: f\n+a\n\n+b'),
    'patch line 4: expected a line of the new file with + in front',
  ],
  [
    'context in an added file',
    wrap('*** Add File: f\n a'),
    'patch line 3: expected a line of the new file with + in front',
  ],
  [
    'a removed line in an added file',
    wrap('*** Add File: f\n-a'),
    'patch line 3: expected a line of the new file with + in front',
  ],
  [
    'an @@ line in an added file',
    wrap('*** Add File: f\n@@\n+a'),
    'patch line 3: expected a line of the new file with + in front',
  ],
  [
    'a move of an added file',
    wrap('*** Add File: f\n*** Move to: g\n+a'),
    'patch line 3: expected *** Add File: path',
  ],
  [
    'a move of a deleted file',
    wrap('*** Delete File: f\n*** Move to: g'),
    'patch line 3: expected *** Add File: path',
  ],
  [
    'the end of an added file',
    wrap('*** Add File: f\n+a\n*** End of File'),
    'patch line 4: expected *** Add File: path',
  ],
  [
    'a line after the end without newline of an added file',
    wrap('*** Add File: f\n+a\n\\ No newline at end of file\n+b'),
    'patch line 5: expected *** Add File: path',
  ],
  [
    'a mark for no newline at the begin of an added file',
    wrap('*** Add File: f\n\\ No newline at end of file'),
    'patch line 3: expected a line of the new file with + in front',
  ],
  [
    'another text behind a backslash in an added file',
    wrap('*** Add File: f\n+a\n\\ no newline'),
    'patch line 4: expected \\ No newline at end of file, found "\\\\ no newline"',
  ],
  [
    'an update without hunks',
    wrap('*** Update File: f'),
    'patch line 3: expected a hunk that changes "f", or *** Move to: path, found "*** End Patch"',
  ],
  [
    'an update without hunks before another section',
    wrap('*** Update File: f\n*** Delete File: g'),
    'patch line 3: expected a hunk that changes "f"',
  ],
  ['a move after a hunk', update('@@\n-a\n*** Move to: g'), 'patch line 5: expected *** Add File: path'],
  [
    'two moves of one file',
    update('*** Move to: g\n*** Move to: h\n-a'),
    'patch line 4: expected *** Add File: path',
  ],
  [
    'a hunk without lines',
    update('@@'),
    'patch line 4: expected a line of a hunk, with a space, - or + in front, found "*** End Patch"',
  ],
  ['an @@ context without lines', update('@@ class A\n@@   f()'), 'patch line 5: expected a line of a hunk'],
  ['an end of file without lines', update('@@\n*** End of File'), 'patch line 4: expected a line of a hunk'],
  ['an end of file alone', update('*** End of File'), 'patch line 3: expected a line of a hunk'],
  [
    'a hunk of context only',
    update('@@\n a\n b'),
    'patch line 3: the hunk has no line with - or + in front, so it changes nothing',
  ],
  [
    'a second hunk of context only',
    update('@@\n-a\n@@\n b'),
    'patch line 5: the hunk has no line with - or + in front',
  ],
  [
    'a blank line before the first @@',
    update('\n@@\n-a'),
    'patch line 3: the hunk has no line with - or + in front',
  ],
  [
    'a line without a mark in front',
    update('@@\n-a\nb'),
    'patch line 5: expected a line of a hunk, with a space, - or + in front, found "b"',
  ],
  ['a first line without a mark in front', update('a\n-b'), 'patch line 3: expected a line of a hunk'],
  ['a tab in front', update('@@\n\ta\n-b'), 'patch line 4: expected a line of a hunk'],
  [
    'line numbers behind @@',
    update('@@ -1,2 +1,3 @@\n-a'),
    'patch line 3: expected @@ alone or @@ and a whole line of the file, without line numbers, found "@@ -1,2 +1,3 @@"',
  ],
  [
    'line numbers and a heading behind @@',
    update('@@ -1 +1 @@ class A\n-a'),
    'patch line 3: expected @@ alone or @@ and a whole line',
  ],
  [
    'no space behind @@',
    update('@@class A\n-a'),
    'patch line 3: expected @@ alone or @@, a space and a line of the file, found "@@class A"',
  ],
  ['three @', update('@@@\n-a'), 'patch line 3: expected @@ alone or @@, a space'],
  [
    'a hunk after the end of the file',
    update('@@\n-a\n*** End of File\n@@\n-b'),
    'patch line 6: expected no more lines of this file, since the hunk before is at its end, found "@@"',
  ],
  [
    'a line after the end of the file',
    update('@@\n-a\n*** End of File\n+b'),
    'patch line 6: expected no more lines of this file',
  ],
  [
    'two ends of a file',
    update('@@\n-a\n*** End of File\n*** End of File'),
    'patch line 6: expected no more lines of this file',
  ],
  [
    'a hunk after a line without newline',
    update('@@\n-a\n\\ No newline at end of file\n@@\n-b'),
    'patch line 6: expected no more lines of this file',
  ],
  [
    'a mark for no newline at the begin of a hunk',
    update('@@\n\\ No newline at end of file\n-a'),
    'patch line 4: expected a line of a hunk',
  ],
  [
    'another text behind a backslash',
    update('@@\n-a\n\\ No newline'),
    'patch line 5: expected \\ No newline at end of file, found "\\\\ No newline"',
  ],
  [
    'a removed line after one without newline',
    update('@@\n-a\n\\ No newline at end of file\n-b'),
    'a line follows one that is marked as the end of the file',
  ],
  [
    'an added line after one without newline',
    update('@@\n+a\n\\ No newline at end of file\n+b'),
    'a line follows one that is marked as the end of the file',
  ],
  [
    'context after a removed line without newline',
    update('@@\n-a\n\\ No newline at end of file\n b'),
    'a line follows one that is marked as the end of the file',
  ],
  [
    'an added line after context without newline',
    update('@@\n-z\n a\n\\ No newline at end of file\n+b'),
    'a line follows one that is marked as the end of the file',
  ],
  [
    'a file updated twice',
    wrap('*** Update File: f\n-a\n*** Update File: f\n-b'),
    'patch line 4: "f" is already in the section at patch line 2, a patch may name a path once',
  ],
  [
    'a file added twice',
    wrap('*** Add File: f\n*** Add File: f'),
    'patch line 3: "f" is already in the section at patch line 2',
  ],
  [
    'a file deleted twice',
    wrap('*** Delete File: f\n*** Delete File: f'),
    'patch line 3: "f" is already in the section',
  ],
  [
    'a file deleted and added',
    wrap('*** Delete File: f\n*** Add File: f\n+a'),
    'patch line 3: "f" is already in the section',
  ],
  [
    'a file added and deleted',
    wrap('*** Add File: f\n+a\n*** Delete File: f'),
    'patch line 4: "f" is already in the section',
  ],
  [
    'a file added and updated',
    wrap('*** Add File: f\n+a\n*** Update File: f\n-a'),
    'patch line 4: "f" is already in the section',
  ],
  [
    'a file updated after its move',
    wrap('*** Update File: f\n*** Move to: g\n*** Update File: g\n-a'),
    'patch line 4: "g" is already in the section',
  ],
  [
    'a file deleted after its move',
    wrap('*** Update File: f\n*** Move to: g\n*** Delete File: f'),
    'patch line 4: "f" is already in the section',
  ],
  [
    'a move onto an added file',
    wrap('*** Add File: g\n*** Update File: f\n*** Move to: g'),
    'patch line 3: "g" is already in the section',
  ],
  [
    'a move onto a deleted file',
    wrap('*** Delete File: g\n*** Update File: f\n*** Move to: g'),
    'patch line 3: "g" is already in the section',
  ],
  [
    'two moves onto one path',
    wrap('*** Update File: e\n*** Move to: g\n*** Update File: f\n*** Move to: g'),
    'patch line 4: "g" is already in the section',
  ],
  [
    'two files that change places',
    wrap('*** Update File: f\n*** Move to: g\n*** Update File: g\n*** Move to: f'),
    'patch line 4: "g" is already in the section',
  ],
  [
    'a move to itself',
    update('*** Move to: f\n-a'),
    'patch line 2: "f" is moved to itself, leave out *** Move to',
  ],
  [
    'a move to itself spelled differently',
    update('*** Move to: ./f\n-a'),
    'patch line 2: "f" is moved to itself',
  ],
  [
    'one path spelled in two ways',
    wrap('*** Delete File: a/f\n*** Add File: a//./f'),
    'patch line 3: "a/f" is already in the section at patch line 2',
  ],
  [
    'a path inside a file',
    wrap('*** Delete File: a\n*** Add File: a/b'),
    'patch line 3: "a/b" lies inside "a", which is a file of this patch',
  ],
  [
    'a path that becomes a folder later',
    wrap('*** Add File: a/b/c\n*** Add File: a/b'),
    'patch line 2: "a/b/c" lies inside "a/b"',
  ],
  ['a move into a file', wrap('*** Update File: f\n*** Move to: f/g'), 'patch line 2: "f/g" lies inside "f"'],
  ['half a surrogate pair', update('@@\n-a\n+\ud800'), 'the patch holds half of a surrogate pair'],
  [
    'more than 1 MiB',
    wrap(`*** Add File: f\n+${'a'.repeat(1024 * 1024)}`),
    'bytes, at most 1048576 are allowed: split it',
  ],
  [
    'more than 1 MiB in bytes',
    wrap(`*** Add File: f\n+${'é'.repeat(600_000)}`),
    'bytes, at most 1048576 are allowed: split it',
  ],
  [
    'more than 100 files',
    wrap(Array.from({ length: 101 }, (_, at) => `*** Delete File: f${at}`).join('\n')),
    'patch line 102: the patch has more than 100 files: split it',
  ],
  [
    'more than 10,000 hunks',
    update(Array.from({ length: 10_001 }, () => '@@\n-a').join('\n')),
    'the patch has more than 10000 hunks: split it',
  ],
  ['escapes in a line that is not one', update('@@\n\u001b[31mred'), 'found "\\u001b[31mred"'],
  ['a long line that is not one', update(`@@\n${'x'.repeat(500)}`), `found "${'x'.repeat(64)}..."`],
]
