import { readFile } from 'node:fs/promises'

import { BASE_HEADERS } from './answer.ts'
import { RequestRefusal } from './request-refusal.ts'

// Where the build puts the page, seen from the source and from what is built of it.
const FOLDER = new URL(import.meta.url.endsWith('.ts') ? '../../dist/page/' : '../../page/', import.meta.url)

const TYPES = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
} as const

// Text never becomes HTML or script, nothing is loaded from elsewhere and nothing is sent there.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** A file of the page. There is nothing of any run in it. Throws `page_missing` when it was not built. */
export async function staticPage(name: keyof typeof TYPES, folder: URL = FOLDER): Promise<Response> {
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = new Uint8Array(await readFile(new URL(name, folder)))
  } catch {
    throw new RequestRefusal('page_missing', 'the page is not built: run npm run build')
  }
  return new Response(bytes, {
    headers: {
      ...BASE_HEADERS,
      'cache-control': 'no-cache',
      'content-security-policy': POLICY,
      'content-type': TYPES[name],
    },
  })
}
