import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Explanation, RequestList } from '../../exports/admin-api.ts'
import { request } from '../../testing/client.ts'
import { root, run } from '../../testing/docs/docs-pages.ts'
import { eventually, useConfigFile, useProgram, type Program } from '../../testing/process.ts'

const page = readFileSync(fileURLToPath(new URL('../../../../../docs/explain.md', import.meta.url)), 'utf8')
const [, yaml = ''] = /^```yaml\n([^]*?)^```$/m.exec(page) ?? []
const config = yaml.replace('port: 3000', 'port: 0')

async function refusals(program: Program): Promise<RequestList['requests']> {
  const answer = await fetch(`${program.admin}/api/requests?outcome=denied`)
  return ((await answer.json()) as RequestList).requests
}

async function explained(program: Program, id: string): Promise<Explanation> {
  const answer = await fetch(`${program.admin}/api/requests/${id}/explain`)
  assert.equal(answer.status, 200)
  return (await answer.json()) as Explanation
}

async function untilGeneration(program: Program, generation: number): Promise<void> {
  await eventually('the next config is live', async () => {
    const state = (await (await fetch(`${program.admin}/api/state`)).json()) as { generation: number }
    return state.generation === generation
  })
}

/** The request that was recorded last. */
async function newest(program: Program): Promise<string> {
  let id = ''
  await eventually('it is recorded', async () => {
    const { requests } = (await (await fetch(`${program.admin}/api/requests`)).json()) as RequestList
    id = requests[0]?.id ?? ''
    return id !== ''
  })
  return id
}

test('a running gateway explains a refusal by the config that decided, also after the next one', async (t) => {
  const live = useConfigFile(t, config)
  const { file } = live
  const program = await useProgram(t, { args: ['-f', file] })
  const refused = await request(program.port(), { headers: { 'x-team': 'c' } })
  assert.equal(refused.status, 403)
  await eventually('it is recorded', async () => (await refusals(program)).length === 1)
  const [found] = await refusals(program)
  const id = found?.id ?? ''
  // Callers get the id, and nothing of why.
  assert.equal(refused.headers['x-portico-decision'], id)
  assert.doesNotMatch(refused.text, /x-team|rule/)
  const before = await explained(program, id)
  const line = config.split('\n').findIndex((text) => text.includes('allow:')) + 1
  assert.equal(before.code, 'no_allow_rule_true')
  assert.deepEqual(before.decidedBy?.place, { file, line, column: config.split('\n')[line - 1]!.indexOf('allow') + 1 })
  assert.equal(before.wouldPass[0]?.text, 'request.headers.x-team is one of ["a","b"] (it is "c").')
  assert.ok(page.includes(`${before.headline}\n`))
  live.replace(config.replace('["a", "b"]', '["c"]'))
  await untilGeneration(program, 2)
  const after = await explained(program, id)
  assert.deepEqual([after.config, after.decidedBy], [{ generation: 1, live: 2, isExact: true }, before.decidedBy])
})

test('a request that ends after the next config is told by the one that let it in', async (t) => {
  const held: Socket[] = []
  const origin = createServer((socket) => void held.push(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  await once(origin, 'listening')
  t.after(() => held.forEach((socket) => socket.destroy()))
  t.after(() => origin.close())
  const { port } = origin.address() as AddressInfo
  const text = `config: { workers: 1 }
binds:
- port: 0
  address: 127.0.0.1
  listeners:
  - routes: [{ name: held, backends: [{ host: "127.0.0.1:${port}" }] }]
`
  const live = useConfigFile(t, text)
  const program = await useProgram(t, { args: ['-f', live.file] })
  const waiting = request(program.port(), { method: 'POST' })
  await eventually('it is under way', () => held.length === 1)
  live.replace(text.replace('listeners:', '# a line more\n  listeners:'))
  await untilGeneration(program, 2)
  held[0]?.destroy()
  assert.equal((await waiting).status, 503)
  const lost = await explained(program, await newest(program))
  assert.deepEqual(lost.config, { generation: 1, live: 2, isExact: true })
  const place = lost.decidedBy?.place ?? null
  assert.equal(place !== null && 'line' in place ? place.line : null, 6, 'where it stood then')
})

test('a config that is not kept any more is not made up: the record alone is told', async (t) => {
  const routes = `${config}# ${'x'.repeat(600_000)}\n`
  const live = useConfigFile(t, routes)
  const program = await useProgram(t, { args: ['-f', live.file] })
  assert.equal((await request(program.port(), { headers: { 'x-team': 'c' } })).status, 403)
  await eventually('it is recorded', async () => (await refusals(program)).length === 1)
  const id = (await refusals(program))[0]?.id ?? ''
  live.replace(routes.replace('["a", "b"]', '["c"]'))
  await untilGeneration(program, 2)
  const after = await explained(program, id)
  assert.deepEqual(after.config, { generation: 1, live: 2, isExact: false })
  assert.ok(page.includes(`${after.headline}\n`))
  assert.deepEqual([after.code, after.wouldPass], ['no_allow_rule_true', []])
  assert.deepEqual([after.decidedBy?.place, after.rules[0]?.place, after.candidates], [null, null, []])
  assert.equal(after.rules[0]?.expression, 'request.headers["x-team"] in ["a", "b"]')
  assert.match(after.remarks.join(), /config 1 decided the request and is no longer stored/)
})

test('a record that an earlier process has left is not told by a config of this one', async (t) => {
  const live = useConfigFile(t, `frontend: { recorder: { disk: { folder: records } } }\n${config}`)
  const first = await useProgram(t, { args: ['-f', live.file] })
  assert.equal((await request(first.port(), { headers: { 'x-team': 'c' } })).status, 403)
  await eventually('it is recorded', async () => (await refusals(first)).length === 1)
  const id = (await refusals(first))[0]?.id ?? ''
  first.child.kill('SIGTERM')
  assert.equal((await first.ended).code, 0)
  live.replace(`frontend: { recorder: { disk: { folder: records } } }\n${config.replace('["a", "b"]', '["c"]')}`)
  const second = await useProgram(t, { args: ['-f', live.file] })
  assert.equal((await refusals(second))[0]?.id, id)
  const told = await explained(second, id)
  assert.deepEqual(told.config, { generation: 1, live: 1, isExact: false })
  assert.equal(told.decidedBy?.place, null)
  assert.match(told.remarks.join(), /config 1 of an earlier process decided the request and is no longer stored/)
})

test('the page shows what is printed, and every command of it works', async (t) => {
  const { file } = useConfigFile(t, config)
  const program = await useProgram(t, { args: ['-f', file] })
  await request(program.port(), { headers: { 'x-team': 'c' } })
  await eventually('it is recorded', async () => (await refusals(program)).length === 1)
  const id = (await refusals(program))[0]?.id ?? ''
  const admin = program.admin.replace('http://', '')
  const outputs: string[] = []
  const commands = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, text = '']) => text.trimEnd().split('\n'))
  // There is no cluster here.
  for (const command of commands.filter((line) => !line.includes('gateway/web'))) {
    const here = command
      .replace('./porticoctl', `${process.execPath} ${join(root, 'packages/ctl/bin/porticoctl.mjs')}`)
      .replace('--local', `--local --admin ${admin}`)
      .replace('http://127.0.0.1:15000', program.admin)
    const { code, stdout, stderr } = await run(['sh'], `ID=${id}\n${here}\n`)
    assert.equal(code, 0, `${command}\n${stderr}`)
    outputs.push(stdout)
  }
  const [, shown = ''] = /^```\n(authorization[^]*?)^```$/m.exec(page) ?? []
  const [, ...lines] = (outputs[0] ?? '').replaceAll(file, 'gateway.yaml').replace('bind/0', 'bind/3000').split('\n')
  assert.equal(lines.join('\n'), shown)
  assert.equal(outputs.length, 6)
})

test('a request without a record is not explained', async (t) => {
  const { file } = useConfigFile(t, config)
  const program = await useProgram(t, { args: ['-f', file] })
  const answer = await fetch(`${program.admin}/api/requests/nothing/explain`)
  assert.equal(answer.status, 404)
})
