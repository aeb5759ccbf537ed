import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject, Usage } from '../middle.ts'
import { MediaAnswer } from './media-answer.ts'
import { mediaUsage } from './media-usage.ts'

/** The facts after a response in these chunks. */
function read(chunks: readonly Buffer[], contentType: string, whole = true) {
  const facts = { usage: {} as Usage, isEstimated: false }
  const answer = new MediaAnswer(facts, contentType, { images: 1 })
  for (const chunk of chunks) {
    // The engine reads into a buffer that it uses again.
    const view = Buffer.from(chunk)
    answer.chunk(view)
    view.fill(0)
  }
  const fault = answer.over(whole)?.code ?? null
  return { ...facts, fault }
}

const usage = { input_tokens: 7, output_tokens: 3, total_tokens: 10 }
const stream = Buffer.from(
  [
    { type: 'image_generation.partial_image', b64_json: 'A'.repeat(100) },
    { type: 'image_generation.completed', b64_json: 'B'.repeat(100), usage },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join(''),
)

test('a stream has its usage and its end, wherever it is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length)), (given) => {
      const cuts = [0, ...given.toSorted((one, other) => one - other), stream.length]
      const chunks = cuts.slice(1).map((cut, at) => stream.subarray(cuts[at], cut))
      const { usage: found, fault, isEstimated } = read(chunks, 'text/event-stream')
      assert.deepEqual([found.input, found.output, found.images, fault, isEstimated], [7, 3, 1, null, false])
    }),
  )
})

test('usage at the end of a response larger than what is kept is found, and a text is not mistaken for it', () => {
  const large = { data: [{ b64_json: 'A'.repeat(200_000) }], usage }
  const whole = Buffer.from(JSON.stringify(large))
  const chunks = Array.from({ length: Math.ceil(whole.length / 7_000) }, (_, at) =>
    whole.subarray(at * 7_000, (at + 1) * 7_000),
  )
  assert.equal(read(chunks, 'application/json').usage.input, 7)
  const text = JSON.stringify({ x: 'A'.repeat(200_000), text: '"usage":{"input_tokens":999}' })
  assert.equal(read([Buffer.from(text)], 'application/json').usage.input, undefined)
})

test('a response that breaks off is an estimate, and sound is not read', () => {
  const broken = read([stream.subarray(0, 150)], 'text/event-stream', false)
  assert.deepEqual(broken, { usage: { calls: 1 }, isEstimated: true, fault: null })
  const sound = read([Buffer.from('"usage":{"input_tokens":1}')], 'audio/mpeg')
  assert.deepEqual(sound, { usage: { calls: 1, images: 1 }, isEstimated: false, fault: null })
})

test('captions have the seconds of their last time, as an estimate', () => {
  const srt = '1\n00:00:00,000 --> 00:00:02,500\nhi\n\n2\n01:01:03,000 --> 01:01:04,250\nyou --> 00:01\n'
  const vtt = 'WEBVTT\n\n00:00.000 --> 00:07.120\nhi\n'
  const seconds = (text: string) => read([Buffer.from(text)], 'text/plain; charset=utf-8')
  assert.deepEqual([seconds(srt).usage.seconds, seconds(srt).isEstimated], [3_664.25, true])
  assert.equal(seconds(vtt).usage.seconds, 7.12)
  assert.deepEqual(seconds('just a text'), { usage: { calls: 1, images: 1 }, isEstimated: false, fault: null })
  const verbose = read([Buffer.from('{"duration":"8.47","text":""}')], 'application/json')
  assert.deepEqual(verbose.usage, { calls: 1, images: 1, seconds: 8.47 })
})

test('seconds, and both spellings of details, are usage', () => {
  assert.deepEqual(mediaUsage({ type: 'duration', seconds: 9.5 }), { seconds: 9.5 })
  assert.equal(mediaUsage({ ...usage, input_token_details: { audio_tokens: 4 } })?.inputAudio, 4)
  assert.equal(mediaUsage({ ...usage, input_tokens_details: { image_tokens: 4 } })?.inputImage, 4)
  assert.equal(mediaUsage({ seconds: -1 }), null)
  assert.equal(mediaUsage(undefined), null)
})

test('any bytes are read', () => {
  const json = fc.json().map((text): JsonObject[string] => JSON.parse(text))
  const anything = fc.oneof(
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.record({ usage: json, duration: json }).map((body) => Buffer.from(JSON.stringify(body))),
  )
  const type = fc.constantFrom('application/json', 'text/event-stream', 'audio/mpeg', '')
  fc.assert(fc.property(fc.array(anything), type, fc.boolean(), (chunks, of, whole) => void read(chunks, of, whole)))
})
