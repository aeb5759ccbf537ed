#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { isRecentEnough, programUrl, runPinned } from './runtime.mjs'

if (isRecentEnough()) {
  const { href } = await programUrl('ctl', 'porticoctl.js', new URL('../src/start.ts', import.meta.url))
  await import(href)
} else {
  runPinned(fileURLToPath(import.meta.url), process.argv.slice(2))
}
