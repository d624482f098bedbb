// A loopchart that runs one command and waits for it; the test kills it. Says `running` when the command does.
import { openArtifacts } from '../../../src/tools/artifacts/artifact-store.ts'
import { findSandbox } from '../../../src/tools/process/find-sandbox.ts'
import { LIMITS_DEFAULT } from '../../../src/tools/process/limit-argv.ts'
import { runCommand } from '../../../src/tools/process/run-command.ts'

const [, , workspaceRoot = '', stateFolder = '', script = '', isSandboxed = ''] = process.argv

await runCommand(
  { script },
  {
    workspaceRoot,
    cwd: workspaceRoot,
    stateFolder,
    artifacts: openArtifacts(`${stateFolder}/artifacts`),
    environment: { PATH: '/usr/bin:/bin' },
    sandbox: isSandboxed === 'true' ? await findSandbox('/nowhere') : null,
    limits: LIMITS_DEFAULT,
    timeoutMs: 60_000,
    key: 'run_1/2/0',
    onOutput: (_, text) => process.stdout.write(text),
    signal: new AbortController().signal,
  },
)
