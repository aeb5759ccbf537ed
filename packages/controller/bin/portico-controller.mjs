#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { isRecentEnough, programUrl, runPinned } from './runtime.mjs'

if (isRecentEnough()) {
  const source = new URL('../src/start.ts', import.meta.url)
  const { href } = await programUrl('controller', 'portico-controller.js', source)
  await import(href)
} else {
  runPinned(fileURLToPath(import.meta.url), process.argv.slice(2), { endSignal: 'SIGUSR2' })
}
