// Serves a page with all parts of the web UI in all of their states, for people who build pages: `npm run ui:parts`. Changes
// of sources show at once. The page is not part of the product: `build-ui.mjs` builds index.html alone.
import { fileURLToPath } from 'node:url'
import { isRecentEnough, runPinned } from '../packages/gateway/bin/runtime.mjs'

if (process.argv[1] === import.meta.filename) {
  if (isRecentEnough()) await main()
  else runPinned(import.meta.filename, process.argv.slice(2))
}

/** Starts the server; port 0 takes a free one. */
export async function servePartsPage(port) {
  const { createServer } = await import('vite')
  const server = await createServer({
    configFile: false,
    root: fileURLToPath(new URL('../packages/ui/', import.meta.url)),
    cacheDir: fileURLToPath(new URL('../node_modules/.cache/ui-parts/', import.meta.url)),
    logLevel: 'warn',
    optimizeDeps: { entries: 'parts.html' },
    server: { host: '127.0.0.1', port, strictPort: port !== 0 },
  })
  return server.listen()
}

async function main() {
  const server = await servePartsPage(5199)
  const [address] = server.resolvedUrls?.local ?? []
  process.stdout.write(`The parts of the web UI: ${address}parts.html\n`)
}
