#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { isRecentEnough, programUrl, runPinned } from './runtime.mjs'

if (isRecentEnough()) {
  const folder = new URL('..', import.meta.url)
  const { href } = await programUrl({ folder, name: 'gateway', file: 'portico.js', source: 'src/process/cli/start.ts' })
  await import(href)
} else {
  // The signal lets the gateway tell a signal that its launcher passes on from one that it gets directly.
  runPinned(fileURLToPath(import.meta.url), process.argv.slice(2), { endSignal: 'SIGUSR2' })
}
