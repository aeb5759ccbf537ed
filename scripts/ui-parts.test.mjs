import assert from 'node:assert/strict'
import { test } from 'node:test'
import { servePartsPage } from './ui-parts.mjs'

test('the page of the parts is served from the sources', { timeout: 120_000 }, async (t) => {
  const server = await servePartsPage(0)
  t.after(() => server.close())
  const [address] = server.resolvedUrls?.local ?? []
  assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/$/)
  const page = await (await fetch(`${address}parts.html`)).text()
  assert.match(page, /src="\/src\/gallery\/main\.tsx"/)
  const entries = await fetch(`${address}src/gallery/entries.tsx`)
  assert.equal(entries.status, 200)
  assert.match(await entries.text(), /part: "?'?Outcome/)
})
