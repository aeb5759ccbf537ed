import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../../gateway/src/testing/client.ts'
import { eventually, useConfigFile, useProgram } from '../../../gateway/src/testing/process.ts'
import { httpConfig } from '../../../gateway/src/testing/scene.ts'
import { runCommand } from '../testing/program.ts'

interface StoredKey {
  keyHash: string
  metadata: Record<string, string>
  expires?: string
  disabled?: boolean
}

function useFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'keys.json')
}

const run = (file: string, ...args: string[]) => runCommand(['keys', ...args, '-f', file])
const stored = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, StoredKey>
const hashOf = (key: string) => `sha256:${createHash('sha256').update(key).digest('hex')}`

async function create(file: string, name: string, ...more: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(file, 'create', name, ...more)
  assert.equal(code, 0, stderr)
  return stdout.trim()
}

describe('keys', () => {
  test('are printed once and stored as hashes', async (t) => {
    const file = useFile(t)
    const key = await create(file, 'bot', '--team', 'support', '--owner', 'ann', '--expires', '2030-01-31T00:00:00Z')
    assert.match(key, /^pk_live_[\w-]{43}$/)
    const { bot } = stored(file)
    assert.equal(bot?.keyHash, hashOf(key))
    assert.deepEqual([bot?.metadata['team'], bot?.metadata['owner']], ['support', 'ann'])
    assert.equal(bot?.metadata['prefix'], key.slice(0, 12))
    assert.equal(bot?.expires, '2030-01-31T00:00:00Z')
    assert.ok(!readFileSync(file, 'utf8').includes(key))
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const { stdout } = await run(file, 'list')
    assert.match(stdout, /^NAME +STATE .*\nbot +active +pk_live_.{4} +support +ann +\d{4}-.* +2030-01-31T00:00:00Z\n$/)
    assert.ok(!stdout.includes(key))
  })

  test('have names that no other key has', async (t) => {
    const file = useFile(t)
    await create(file, 'bot')
    const again = await run(file, 'create', 'bot')
    assert.deepEqual([again.code, again.stdout], [1, ''])
    assert.match(again.stderr, /there is a key bot already; rotate it/)
    const unknown = await run(file, 'revoke', 'bott')
    assert.match(unknown.stderr, /there is no key bott; there are bot\n/)
  })

  test('that are rotated stay valid for as long as was said', async (t) => {
    const file = useFile(t)
    const first = await create(file, 'bot', '--team', 'support')
    const second = (await run(file, 'rotate', 'bot', '--overlap', '1h')).stdout.trim()
    const [old = '', current = ''] = Object.keys(stored(file)).toSorted().toReversed()
    assert.deepEqual([old, current], [`bot~${first.slice(0, 12)}`, 'bot'])
    const keys = stored(file)
    assert.deepEqual([keys[old]?.keyHash, keys['bot']?.keyHash], [hashOf(first), hashOf(second)])
    assert.deepEqual([keys[old]?.metadata['name'], keys['bot']?.metadata['team']], ['bot', 'support'])
    const left = Date.parse(keys[old]?.expires ?? '') - Date.now()
    assert.ok(left > 3_500_000 && left <= 3_600_000, String(left))
    await run(file, 'rotate', 'bot', '--overlap', '0s')
    assert.ok(!Object.values(stored(file)).some(({ keyHash }) => keyHash === hashOf(second)))
  })

  test('that are revoked leave no hash, and their names may be used again', async (t) => {
    const file = useFile(t)
    const key = await create(file, 'bot')
    await run(file, 'rotate', 'bot')
    assert.equal((await run(file, 'revoke', 'bot')).code, 0)
    const [entry, ...others] = Object.values(stored(file))
    assert.deepEqual([others.length, entry?.disabled], [0, true])
    assert.notEqual(entry?.keyHash, hashOf(key))
    assert.match((await run(file, 'enable', 'bot')).stderr, /there is no key bot/)
    await create(file, 'bot')
    assert.equal(stored(file)['bot']?.disabled, undefined)
  })

  test('are not written to a file that holds something else', async (t) => {
    const file = useFile(t)
    for (const [text, problem] of [
      ['[]', /does not contain a JSON object of keys/],
      ['{', /does not contain a JSON object of keys/],
      ['{"a":"plain-key-1"}', /a has no `keyHash`: this command changes only files of hashes/],
    ] as const) {
      writeFileSync(file, text)
      const { code, stdout, stderr } = await run(file, 'create', 'bot')
      assert.deepEqual([code, stdout, readFileSync(file, 'utf8')], [1, '', text])
      assert.match(stderr, problem)
      assert.ok(!stderr.includes('plain-key-1'))
      assert.ok(!existsSync(join(dirname(file), '.keys.json.new')))
    }
  })

  test('are changed by one command at a time, and the mode of the file stays', async (t) => {
    const file = useFile(t)
    await create(file, 'bot')
    chmodSync(file, 0o640)
    writeFileSync(join(dirname(file), '.keys.json.new'), '')
    const { code, stderr } = await run(file, 'disable', 'bot')
    assert.equal(code, 1)
    assert.match(stderr, /another command changes the file; if none does, remove .*\.keys\.json\.new/)
    rmSync(join(dirname(file), '.keys.json.new'))
    assert.equal((await run(file, 'disable', 'bot')).code, 0)
    assert.equal(statSync(file).mode & 0o777, 0o640)
  })

  test('need an action and a name', async (t) => {
    const file = useFile(t)
    for (const [args, problem] of [
      [['keys'], /found no action, expected one of create, list/],
      [['keys', 'make', 'x', '-f', file], /found "make"/],
      [['keys', 'create', '-f', file], /create needs the name of a key/],
      [['keys', 'create', 'a~b', '-f', file], /create needs the name of a key/],
      [['keys', 'list', 'x', '-f', file], /list takes no name/],
      [['keys', 'list', '-f', file, '-o', 'xml'], /found output "xml"/],
    ] as const) {
      const { code, stderr } = await runCommand(args)
      assert.equal(code, 2)
      assert.match(stderr, problem)
    }
    assert.match((await run(file, 'create', 'x', '--expires', 'soon')).stderr, /found the time soon/)
    assert.ok(!existsSync(file))
  })
})

test('a gateway admits keys that were created, and denies them once they are revoked', async (t) => {
  const file = useFile(t)
  const first = await create(file, 'bot')
  const echo = { response: { set: [{ name: 'x-key-name', value: 'apiKey.name' }] } }
  const policies = {
    apiKeyAuthentication: { secretRef: { file } },
    transformation: echo,
    directResponse: { status: 200, body: 'in' },
  }
  // Several workers take a change one after the other, so an answer would depend on the worker.
  const config = useConfigFile(t, { config: { workers: 1 }, ...httpConfig([{ policies }]) })
  const program = await useProgram(t, { args: ['-f', config.file] })
  const ask = (key: string) => request(program.port(), { headers: { authorization: `Bearer ${key}` } })
  const answers = async (key: string, status: number) => {
    const startedAt = performance.now()
    await eventually(`the key gets ${status}`, async () => (await ask(key)).status === status)
    return performance.now() - startedAt
  }
  assert.equal((await ask(first)).status, 200)
  const second = (await run(file, 'rotate', 'bot')).stdout.trim()
  t.diagnostic(`a new key was valid after ${Math.round(await answers(second, 200))} ms`)
  assert.deepEqual([(await ask(first)).status, (await ask(first)).headers['x-key-name']], [200, 'bot'])
  await run(file, 'disable', 'bot')
  await answers(second, 401)
  assert.match((await ask(first)).body, /the API key is disabled/)
  await run(file, 'enable', 'bot')
  await answers(second, 200)
  await run(file, 'revoke', 'bot')
  t.diagnostic(`revoked keys were denied after ${Math.round(await answers(second, 401))} ms`)
  assert.equal((await ask(first)).status, 401)
})
