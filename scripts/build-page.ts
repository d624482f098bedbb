// node scripts/build-page.ts: builds the inspector page into dist/page, and fails when it has grown too large.
import { copyFileSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

import { build, type Plugin } from 'vite'

const GZIP_BYTES_MAX = 150 * 1024

const source = new URL('../src/inspect/page/', import.meta.url)
const target = new URL('../dist/page/', import.meta.url)

rmSync(target, { recursive: true, force: true })
await build({
  root: fileURLToPath(source),
  configFile: false,
  // The page may be mounted anywhere: index.html says where its two files are, and they load nothing else.
  base: './',
  publicDir: false,
  logLevel: 'warn',
  plugins: [withoutNode()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: fileURLToPath(target),
    emptyOutDir: false,
    target: 'es2023',
    sourcemap: false,
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: fileURLToPath(new URL('main.tsx', source)),
      output: { entryFileNames: 'app.js', assetFileNames: 'app[extname]', codeSplitting: false },
    },
  },
})
copyFileSync(new URL('index.html', source), new URL('index.html', target))
reportSizes()

/** Stops the build where the page would need Node: a browser would only find out when it gets there. */
function withoutNode(): Plugin {
  return {
    name: 'without-node',
    enforce: 'pre',
    resolveId(id, importer) {
      if (id.startsWith('node:'))
        throw new Error(`${importer ?? 'the page'} imports ${id}, which no browser has`)
      return null
    },
  }
}

function reportSizes(): void {
  let totalBytes = 0
  for (const name of readdirSync(target).sort()) {
    const bytes = readFileSync(new URL(name, target))
    const gzipBytes = gzipSync(bytes, { level: 9 }).length
    totalBytes += gzipBytes
    process.stdout.write(`dist/page/${name.padEnd(10)}  ${kib(bytes.length)}  ${kib(gzipBytes)} gzip\n`)
  }
  if (totalBytes > GZIP_BYTES_MAX) {
    throw new Error(`the page has ${kib(totalBytes).trim()} gzip, more than ${kib(GZIP_BYTES_MAX).trim()}`)
  }
}

function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(1).padStart(7)} KiB`
}
