#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { isRecentEnough, programUrl, runPinned } from './runtime.mjs'

if (isRecentEnough()) {
  const { href } = await programUrl('gateway', 'portico.js', new URL('../src/process/start.ts', import.meta.url))
  await import(href)
} else {
  // The gateway tells what its launcher passes on from what it is told itself.
  runPinned(fileURLToPath(import.meta.url), process.argv.slice(2), { endSignal: 'SIGUSR2' })
}
