import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { toFile } from 'openai'
import { request } from '../../../testing/client.ts'
import { httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'
import { formOf, hashOf, json, sendForm, text, useForms } from './test-form-scene.ts'

const picture = randomBytes(2_000_000)
const usage = {
  input_tokens: 350,
  output_tokens: 1000,
  total_tokens: 1350,
  input_tokens_details: { text_tokens: 10, image_tokens: 340 },
}
const image = { created: 1, data: [{ b64_json: 'aGk=' }], usage }
const model = 'gpt-image-1'
const prompt = 'a red hat'

describe('edits of images', () => {
  test('reach the SDK of OpenAI, with several images and a mask', async (t) => {
    const prices = { models: [{ model, rates: { input: 5, output: 40 } }], table: 'None' }
    const { seen, sdk, line } = await useForms(t, { answer: json(image), backend: { prices } })
    const files = [await toFile(picture, 'a.png'), await toFile(picture, 'b.png')]
    const mask = await toFile(Buffer.from('mask'), 'mask.png')
    const { data } = await sdk.images.edit({ model, image: files, mask, prompt, n: 1 })
    assert.equal(data?.length, 1)
    assert.equal(seen[0]?.url, '/v1/images/edits')
    // The SDK sends lists after the other fields.
    assert.deepEqual(seen[0]?.parts, [
      ['model', model, null],
      ['mask', hashOf(Buffer.from('mask')), 'mask.png'],
      ['prompt', prompt, null],
      ['n', '1', null],
      ['image[]', hashOf(picture), 'a.png'],
      ['image[]', hashOf(picture), 'b.png'],
    ])
    const fields = await line()
    assert.deepEqual(
      ['gen_ai.operation.name', 'gen_ai.usage.input_tokens', 'portico.ai.units', 'portico.ai.cost_usd'].map(
        (name) => fields[name],
      ),
      ['image_edit', 350, 'images:1', 0.04175],
    )
  })

  test('are streamed to the SDK', async (t) => {
    const events = [
      { type: 'image_edit.partial_image', b64_json: 'A'.repeat(100_000), partial_image_index: 0 },
      { type: 'image_edit.completed', b64_json: 'B'.repeat(100_000), usage },
    ]
    const stream = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    const { sdk, line } = await useForms(t, { answer: text(stream, 'text/event-stream') })
    const types: string[] = []
    const file = await toFile(picture, 'a.png')
    for await (const event of await sdk.images.edit({ model, image: file, prompt, stream: true }))
      types.push(event.type)
    assert.deepEqual(
      types,
      events.map(({ type }) => type),
    )
    assert.equal((await line())['gen_ai.usage.output_tokens'], 1000)
  })

  test('have their prompt guarded, before or after the image', async (t) => {
    const mask = { promptGuard: { request: [{ regex: { builtins: ['Ssn'], action: 'Mask' } }] } }
    const { seen, gateway } = await useForms(t, { answer: json(image), backend: { ai: mask } })
    const form = formOf([
      ['model', model],
      ['image', picture],
      ['prompt', 'a card with 123-45-6789'],
    ])
    assert.equal((await sendForm(gateway.port(), '/v1/images/edits', form)).status, 200)
    assert.deepEqual(seen[0]?.parts[2], ['prompt', 'a card with <SSN>', null])
    assert.equal(seen[0]?.parts[1]?.[1], hashOf(picture))
    const reject = { promptGuard: { request: [{ regex: { builtins: ['Ssn'], action: 'Reject' } }] } }
    const other = await useForms(t, { answer: json(image), backend: { ai: reject } })
    assert.equal((await sendForm(other.gateway.port(), '/v1/images/edits', form)).status, 403)
    assert.equal(other.seen.length, 0)
  })

  test('are reserved from a budget by their number', async (t) => {
    const prices = { models: [{ model, units: { image: 0.1 } }], table: 'None' }
    const budget = { limits: [{ name: 'team', usd: 0.5, per: 'Day' }] }
    const { gateway } = await useForms(t, { answer: json({ data: [] }), backend: { prices }, policies: { budget } })
    const statuses: number[] = []
    for (const n of ['3', '3', '2', '1']) {
      const form = formOf([
        ['model', model],
        ['prompt', prompt],
        ['n', n],
        ['image', picture],
      ])
      statuses.push((await sendForm(gateway.port(), '/v1/images/edits', form)).status)
      await gateway.finished(statuses.length)
    }
    assert.deepEqual(statuses, [200, 429, 200, 429])
  })

  test('may name their images in JSON', async (t) => {
    const origin = await useOrigin(t, (_seen, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(image)),
    )
    const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
    const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { provider } }] }]))
    const body = JSON.stringify({ model, prompt, images: [{ image_url: 'https://example.com/a.png' }] })
    const headers = { 'content-type': 'application/json' }
    const answer = await request(gateway.port(), { method: 'POST', path: '/v1/images/edits', headers, body })
    assert.equal(answer.status, 200)
    assert.equal(origin.seen[0]?.body, body)
    await gateway.finished(1)
    assert.equal(gateway.records[0]?.llm?.operation, 'image_edit')
    assert.equal(gateway.records[0]?.llm?.outputTokens, 1000)
  })
})

test('variations reach the SDK of OpenAI, without a model', async (t) => {
  const { seen, sdk, line } = await useForms(t, { answer: json({ created: 1, data: [{ b64_json: 'aGk=' }] }) })
  await sdk.images.createVariation({ image: await toFile(picture, 'a.png'), n: 2 })
  assert.equal(seen[0]?.url, '/v1/images/variations')
  assert.deepEqual(seen[0]?.parts, [
    ['image', hashOf(picture), 'a.png'],
    ['n', '2', null],
  ])
  const fields = await line()
  assert.deepEqual([fields['gen_ai.operation.name'], fields['portico.ai.units']], ['image_variation', 'images:2'])
})

test('providers without the calls say so', async (t) => {
  const azure = { resourceName: 'r', resourceType: 'OpenAI' }
  const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { provider: { azure } } }] }]))
  const form = formOf([
    ['model', 'm'],
    ['image', picture],
  ])
  const { status, body } = await sendForm(gateway.port(), '/v1/images/variations', form)
  assert.deepEqual([status, /azure has no calls of this type/.test(body)], [400, true])
})
