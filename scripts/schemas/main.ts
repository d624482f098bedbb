// npm run schemas -- <file-or-url>   vendor an OpenAPI document and derive everything from it
// npm run schemas                    derive everything from what is vendored
// npm run schemas -- --check         write nothing; exit 1 and name each derived file that is not up to date

import { schemasCommand } from './command.ts'

process.exitCode = await schemasCommand(process.argv.slice(2), {
  // npm runs scripts in the root of the package.
  root: process.cwd(),
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
})
