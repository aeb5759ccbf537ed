import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { freshUi } from './fresh-ui.mjs'

/** The size of the first load, gzipped: the page and its static imports. */
const FIRST_LOAD_BYTES = 350 * 1024

test('the first load is small, and nothing is loaded from other hosts', { timeout: 120_000 }, async () => {
  const folder = await freshUi()
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  assert.doesNotMatch(html, /<style|\son\w+=|<script(?![^>]*\ssrc=)|style=/, 'nothing inline')
  const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address)
  assert.ok(loaded.length >= 3)
  for (const address of loaded) assert.match(address, /^\/ui\/assets\/[\w-]+-[\w-]{8}\.(js|css|svg)$/)
  const first = new Set(loaded.map((address) => address.slice('/ui/'.length)))
  // Static imports of the first script are part of the first load; dynamic imports are not.
  for (const name of first) {
    if (!name.endsWith('.js')) continue
    const code = readFileSync(join(folder, name), 'utf8')
    for (const [, next] of code.matchAll(/(?:from|import)"\.\/([\w.-]+)"/g)) first.add(`assets/${next}`)
  }
  const sizes = [...first].map((name) => gzipSync(readFileSync(join(folder, name))).length)
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  assert.ok(bytes > 50_000 && bytes < FIRST_LOAD_BYTES, `the first load is ${bytes} bytes`)
  assert.ok(readdirSync(join(folder, 'assets')).length > first.size, 'pages are loaded when they are opened')
  const prices = readdirSync(join(folder, 'assets')).filter((name) => /^price-table-.*\.js$/.test(name))
  assert.equal(prices.length, 1)
  assert.ok(!first.has(`assets/${prices[0]}`), 'prices are loaded when figures of cost are shown')
  const table = readFileSync(join(folder, 'assets', prices[0]), 'utf8')
  assert.ok(table.length > 100_000)
  assert.doesNotMatch(table, /fetch\(|XMLHttpRequest|raw\.githubusercontent\.com/, 'they are never fetched anew')
  assert.match(readFileSync(join(folder, 'NOTICE'), 'utf8'), /^react 19\.\d+\.\d+ \(MIT\)$/m)
})

test('the page of the parts is not in the product', { timeout: 120_000 }, async () => {
  const folder = await freshUi()
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  assert.ok(files.length > 10)
  for (const { parentPath, name } of files) {
    const text = readFileSync(join(parentPath, name), 'utf8')
    assert.doesNotMatch(text, /Parts of the Portico UI|testing-library|happy-dom/, name)
  }
  assert.ok(!files.some(({ name }) => name === 'parts.html'))
})
