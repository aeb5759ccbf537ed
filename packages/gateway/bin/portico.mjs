#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isRecentEnough, runPinned } from './runtime.mjs'

if (isRecentEnough()) {
  // A checkout runs its sources; a published package has only the built program.
  const source = new URL('../src/process/start.ts', import.meta.url)
  await import(existsSync(source) ? source.href : new URL('../dist/portico.js', import.meta.url).href)
} else {
  runPinned(fileURLToPath(import.meta.url), process.argv.slice(2))
}
