import { rmSync } from 'node:fs'

// tsc never deletes: a file that was renamed would otherwise be shipped under both names.
rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
