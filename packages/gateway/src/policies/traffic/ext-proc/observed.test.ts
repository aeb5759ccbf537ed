import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { loadConfig } from '../../../sources/file.ts'
import { printProblems } from '../../../sources/print-problems.ts'
import { request } from '../../../testing/client.ts'
import {
  bytesOf,
  fieldsOf,
  immediate,
  partsOf,
  type Processor,
  useAnsweringProcessor,
  useProcessor,
} from '../../../testing/processor.ts'
import { closedPort, httpConfig, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'

async function setUp(t: TestContext, { host }: Pick<Processor, 'host'>, more: object = {}) {
  const origin = await useOrigin(t, (seen, response) => response.end(`you said ${seen.body}`))
  const extProc = { backendRef: { host }, observabilityMode: true, ...more }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]))
  return { origin, gateway, ask: (sent = {}) => request(gateway.port(), sent) }
}

test('an observing processor gets copies of everything, and what it says does not count', async (t) => {
  const processor = await useAnsweringProcessor(t, () => immediate(403, 'no'))
  const { ask } = await setUp(t, processor)
  const answer = await ask({ method: 'POST', path: '/a', body: 'hello' })
  assert.deepEqual([answer.status, answer.body], [200, 'you said hello'])
  await until(() =>
    processor.seen.some(({ request: part }) => part?.$case === 'responseBody' && part.value.endOfStream),
  )
  const parts = [...new Set(partsOf(processor.seen))]
  assert.deepEqual(parts, ['requestHeaders', 'requestBody', 'responseHeaders', 'responseBody'])
  assert.deepEqual(
    [bytesOf(processor.seen, 'requestBody'), bytesOf(processor.seen, 'responseBody')],
    ['hello', 'you said hello'],
  )
  assert.equal(fieldsOf(processor.seen[0])[':path'], '/a')
  assert.ok(processor.seen.every(({ observabilityMode }) => observabilityMode))
  assert.equal(processor.seen[0]?.protocolConfig?.requestBodyMode, 1)
  await until(() => processor.ended === 1)
})

test('only the parts that the config names are copied', async (t) => {
  const processor = await useAnsweringProcessor(t, () => null)
  const processingOptions = {
    requestHeaderMode: 'Skip',
    requestBodyMode: 'Streamed',
    responseBodyMode: 'None',
    responseTrailerMode: 'Skip',
  }
  const { ask } = await setUp(t, processor, { processingOptions })
  assert.equal((await ask({ method: 'POST', body: 'hello' })).status, 200)
  await until(() => processor.ended === 1)
  assert.deepEqual([...new Set(partsOf(processor.seen))], ['requestBody', 'responseHeaders'])
})

test('a processor that is gone, broken or silent neither fails nor holds a request', async (t) => {
  const broken = await useAnsweringProcessor(t, () => Promise.reject(new Error('broken')))
  const deaf = await useProcessor(t, (call) => call.pause())
  for (const host of [`127.0.0.1:${await closedPort()}`, broken.host, deaf.host]) {
    const { ask, gateway } = await setUp(t, { host }, { messageTimeout: '100ms' })
    const body = 'x'.repeat(300_000)
    const answer = await ask({ method: 'POST', body })
    assert.deepEqual([answer.status, answer.body.length], [200, body.length + 'you said '.length])
    await gateway.finished(1)
    assert.equal(gateway.records[0]?.reason, 'Upstream')
  }
})

test('a body that would have to be kept for an observer is refused at load', () => {
  const policies = {
    extProc: {
      backendRef: { host: 'a:1' },
      observabilityMode: true,
      processingOptions: { requestBodyMode: 'Buffered' },
    },
  }
  const config = httpConfig([routeTo({ host: '127.0.0.1:1' }, policies)])
  const loaded = loadConfig(JSON.stringify(config), { file: 'g.yaml', dir: '.', env: {} })
  assert.match(
    loaded.ok ? 'no problem' : printProblems(loaded.problems),
    /with `observabilityMode`, bodies are not buffered/,
  )
})
