import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test, type TestContext } from 'node:test'
import { request, type RawResponse } from '../client.ts'
import { startGateway } from '../gateway.ts'
import type { Origin, SeenRequest } from '../origin.ts'
import { type Conversation, type Example, readExamples } from './readme-examples.ts'
import { until, useOrigin } from '../scene.ts'
import { useTlsFiles } from '../tls-files.ts'

const src = join(import.meta.dirname, '../..')
const files = globSync(['policies/*/*/README.md', 'backends/*/README.md'], { cwd: src }).sort()

test('every policy and every backend has a README with an example', () => {
  const folders = new Set(globSync(['policies/*/*/schema.ts', 'backends/*/*.ts'], { cwd: src }).map(dirname))
  assert.deepEqual(files, [...folders].map((folder) => join(folder, 'README.md')).sort())
  for (const file of files) {
    assert.ok(readExamples(join(src, file)).length > 0, file)
    const lines = readFileSync(join(src, file), 'utf8').split('\n').length
    assert.ok(lines <= 61, `${file} has ${lines} lines`)
  }
})

for (const file of files) {
  for (const example of readExamples(join(src, file))) {
    test(`${relative('.', file)}:${example.line} works as shown`, (t) => play(t, example))
  }
}

/** Loads the config with ports of this machine in it, and holds the conversations. */
async function play(t: TestContext, example: Example): Promise<void> {
  const reply: { turn: Conversation['turns'][number] | null } = { turn: null }
  const backend = await useOrigin(t, (_seen, response) => {
    const [status = 'HTTP/1.1 200', ...fields] = reply.turn?.lines ?? []
    response.writeHead(Number(status.split(' ')[1]), Object.fromEntries(fields.map(splitField)))
    response.end(reply.turn?.body ?? '')
  })
  const mirror = await useOrigin(t)
  const { dir } = useTlsFiles(t, ['tls', 'client'])
  const yaml = example.yaml
    .replaceAll('127.0.0.1:9000', backend.host)
    .replaceAll('host: 127.0.0.1, port: 9000', `host: 127.0.0.1, port: ${backend.port}`)
    .replaceAll('127.0.0.1:9001', mirror.host)
    .replaceAll(/\bport: (80|443|8080|8443)$/gm, 'port: 0')
  const gateway = await startGateway(yaml, { dir })
  t.after(() => gateway.close())
  for (const conversation of example.conversations) {
    reply.turn = conversation.turns.find((turn) => turn.who === 'backend answers') ?? null
    await hold(conversation, gateway.port(), { backend, mirror })
  }
}

async function hold(
  conversation: Conversation,
  port: number,
  origins: { backend: Origin; mirror: Origin },
): Promise<void> {
  const before = { backend: origins.backend.seen.length, mirror: origins.mirror.seen.length }
  let answer: RawResponse | null = null
  for (const { who, lines, body } of conversation.turns) {
    const [first = '', ...fields] = lines
    const [method = '', path = ''] = first.split(' ')
    switch (who) {
      case 'client sends':
        answer = await request(port, {
          method,
          path,
          headers: Object.fromEntries(fields.map(splitField)),
          body: body ?? '',
        })
        break
      case 'backend gets':
      case 'mirror gets': {
        const origin = who === 'backend gets' ? 'backend' : 'mirror'
        await until(() => origins[origin].seen.length > before[origin])
        const seen: SeenRequest = origins[origin].seen[before[origin]++]!
        assert.equal(`${seen.method} ${seen.url}`, `${method} ${path}`)
        for (const [name, value] of fields.map(splitField)) assert.equal(seen.headers[name], value)
        if (body !== null) assert.equal(seen.body, body)
        break
      }
      case 'client gets':
        assert.equal(answer!.status, Number(first.split(' ')[1]))
        for (const [name, value] of fields.map(splitField)) assert.equal(answer!.headers[name], value)
        if (body !== null) assert.equal(answer!.body, body)
        break
      case 'backend answers':
        break
      default:
        assert.fail(`line ${conversation.line}: who is "${who}"?`)
    }
  }
  assert.equal(origins.backend.seen.length, before.backend, 'the backend got more than is shown')
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
