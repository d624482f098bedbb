import { createRequire } from 'node:module'

import type { Frame } from '../frames/generated/frame.ts'
import type * as generated from '../frames/generated/validate-frame.ts'
import { parseFrameWith } from '../frames/parse-frame-with.ts'
import type { CompiledValidator } from '../protocol/compiled-validator.ts'

let loaded: CompiledValidator | undefined

/**
 * The `parseFrame` of frames, whose validator is loaded with the first line: it is large, and a program that keeps no
 * runs reads none.
 */
export function parseFrame(line: string): Frame {
  loaded ??= loadValidator()
  return parseFrameWith(loaded, line)
}

// By require, since a store is read without waiting. The path is the same from here and from dist/src/chunks.
function loadValidator(): CompiledValidator {
  const end = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const { frameValidator }: typeof generated = createRequire(import.meta.url)(
    `../frames/generated/validate-frame.${end}`,
  )
  return frameValidator
}
