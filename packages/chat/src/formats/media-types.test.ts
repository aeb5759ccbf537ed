import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { UnsupportedField } from '../middle.ts'
import { decoded } from '../testing/exchange.ts'
import { clientFormats, upstreamFormats } from './index.ts'

const client = clientFormats.completions

function sent(upstream: keyof typeof upstreamFormats, mediaType: string) {
  const url = `data:${mediaType};base64,AAEC`
  const body = { model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] }
  const target = { model: 'm', quirks: new Set<string>(), toolNames: new Map<string, string>() }
  return upstreamFormats[upstream].encodeRequest(decoded(client, body), target, [])
}

describe('images of clients', () => {
  for (const upstream of ['messages', 'gemini', 'converse'] as const) {
    it(`have a type that ${upstream} takes, or are refused by its name`, () => {
      assert.match(JSON.stringify(sent(upstream, 'image/jpg')), /image\/jpeg|"format":"jpeg"/)
      const refused = sent(upstream, 'image/tiff')
      assert.ok(refused instanceof UnsupportedField)
      assert.equal(refused.field, 'messages[].content[].image_url')
      assert.match(refused.message, /not image\/tiff$/)
    })
  }
})
