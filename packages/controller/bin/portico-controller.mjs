#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { isRecentEnough, programUrl, runPinned } from './runtime.mjs'

if (isRecentEnough()) {
  const folder = new URL('..', import.meta.url)
  const { href } = await programUrl({
    folder,
    name: 'controller',
    file: 'portico-controller.js',
    source: 'src/start.ts',
  })
  await import(href)
} else {
  runPinned(fileURLToPath(import.meta.url), process.argv.slice(2), { endSignal: 'SIGUSR2' })
}
