import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { FILTER_PARAMETERS } from '../../telemetry/recorder/record-filter.ts'
import { type GatewayState, RECORD_OUTCOMES, type RequestList } from '../../telemetry/recorder/record.ts'
import { request } from '../../testing/client.ts'
import { run } from '../../testing/docs/docs-pages.ts'
import { eventually, useConfigFile, useProgram, type Program } from '../../testing/process.ts'

const page = readFileSync(fileURLToPath(new URL('../../../../../docs/admin-api.md', import.meta.url)), 'utf8')

test('every command of the page of the admin API works as it stands', async (t) => {
  const { file } = useConfigFile(t, {
    ...twoWorkers(),
    config: { workers: 2, stateDir: 'state', ledger: {}, keys: {} },
  })
  const program = await useProgram(t, { args: ['-f', file] })
  for (let i = 0; i < 6; i++) await request(program.port(), { path: '/limited' })
  await listed(program, 6)
  const folder = mkdtempSync(join(tmpdir(), 'portico-admin-api-'))
  t.after(() => rmSync(folder, { recursive: true }))
  // The back-test needs the live `config` block, because another `config` block is refused.
  const live = (command: string): string =>
    command.includes('/api/backtest')
      ? command.replace(/"text": ".*?"/, `"text": ${JSON.stringify(readFileSync(file, 'utf8'))}`)
      : command
  const commands = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, text = '']) => live(text))
  assert.ok(commands.length >= 5, 'has the form of the fences changed?')
  for (const command of commands) {
    const strict = `set -e\ncd ${folder}\ncurl() { command curl -sS --fail-with-body "$@"; }\n`
    const { code, stdout, stderr } = await run(
      ['sh'],
      strict + command.replaceAll('http://127.0.0.1:15000', program.admin),
    )
    assert.equal(code, 0, `${command}\n${stdout}${stderr}`)
    if (command.includes('$ID/events')) assert.match(stdout, /"code":"rate_limited"[^]*"type":"requestFinished"/)
  }
  const lines = readFileSync(join(folder, 'requests.jsonl'), 'utf8').trimEnd().split('\n')
  assert.equal(lines.length, 6)
})

test('the command that changes the config works as it stands', async (t) => {
  const { file } = useConfigFile(t, { ...twoWorkers(), config: { ui: { edit: true } } })
  const env = { ADMIN_TOKEN: 'open-sesame' }
  const program = await useProgram(t, { args: ['-f', file], env: { ...env, WORKER_THREADS: '1' } })
  const [, command = ''] = /^```sh token\n([^]*?)^```$/m.exec(page) ?? []
  const strict = `set -e\nADMIN_TOKEN=${env.ADMIN_TOKEN}\ncurl() { command curl -sS --fail-with-body "$@"; }\n`
  const { stdout, stderr } = await run(['sh'], strict + command.replaceAll('http://127.0.0.1:15000', program.admin))
  assert.match(stdout, /^\{"generation":2,"version":"[\w-]+"\}$/m, stderr)
  assert.equal(readFileSync(file, 'utf8'), 'config: { ui: { edit: true } }')
})

test('the page names every outcome and every parameter', () => {
  for (const outcome of RECORD_OUTCOMES) assert.ok(page.includes(`| \`${outcome}\` |`), outcome)
  for (const name of FILTER_PARAMETERS) assert.match(page, new RegExp(`^\\|.*\`${name}\`.*\\|`, 'm'))
})

test('records of all workers are one list, and outlive reloads and workers', async (t) => {
  const config = useConfigFile(t, twoWorkers())
  const program = await useProgram(t, { args: ['-f', config.file] })
  const ask = async (path: string): Promise<number> => (await request(program.port(), { path })).status
  await eventually('both workers have served', async () => {
    await ask('/page')
    return new Set((await listed(program)).map(({ worker }) => worker)).size === 2
  })
  const before = (await listed(program)).length
  config.replace(twoWorkers('again'))
  await eventually('the next config is live', async () => (await state(program)).generation === 2)
  await ask('/page')
  await listed(program, before + 1)
  const [newest] = await listed(program)
  assert.equal(newest?.generation, 2)
  config.replace('binds: {')
  await eventually('the problem is told', async () => (await state(program)).problems.length > 0)
  const told = await state(program)
  assert.deepEqual([told.generation, told.workers, told.recorder.isEnabled], [2, 2, true])
  assert.match(told.problems[0]?.text ?? '', /gateway\.yaml:1/)
})

test('records on disk are there after a restart, whole or not at all', async (t) => {
  const config = useConfigFile(t, { ...twoWorkers(), frontend: { recorder: { disk: { folder: 'records' } } } })
  const first = await useProgram(t, { args: ['-f', config.file] })
  for (let i = 0; i < 5; i++) await request(first.port(), { path: `/limited/${i}` })
  const before = await listed(first, 5)
  first.child.kill('SIGTERM')
  await first.ended
  const [segment = ''] = readdirSync(join(config.folder, 'records'))
  appendFileSync(join(config.folder, 'records', segment), Buffer.from([200, 0, 0, 0, 1, 2, 3]))
  const second = await useProgram(t, { args: ['-f', config.file] })
  assert.deepEqual(await listed(second, 5), before)
  assert.equal((await fetch(`${second.admin}/api/requests/${before[0]?.id}`)).status, 200)
  await request(second.port(), { path: '/page/after' })
  const after = await listed(second, 6)
  assert.equal(after[0]?.path, '/page/after')
  assert.ok(((await state(second)).recorder.diskBytes ?? 0) > 0)
})

async function state(program: Program): Promise<GatewayState> {
  return (await (await fetch(`${program.admin}/api/state`)).json()) as GatewayState
}

/** A record is written when everything is over, which the client may know first. */
async function listed(program: Program, count = 0): Promise<RequestList['requests']> {
  let found: RequestList['requests'] = []
  await eventually('records are there', async () => {
    const answer = await fetch(`${program.admin}/api/requests?limit=1000`)
    found = ((await answer.json()) as RequestList).requests
    return found.length >= count
  })
  return found
}

function twoWorkers(name = 'first'): object {
  return {
    config: { workers: 2 },
    binds: [
      {
        port: 0,
        listeners: [
          {
            routes: [
              {
                name: 'limited',
                matches: [{ path: { pathPrefix: '/limited' } }],
                policies: {
                  rateLimit: { local: [{ requests: 2, unit: 'Hours' }] },
                  directResponse: { status: 200, body: name },
                },
              },
              { name: 'page', policies: { directResponse: { status: 200, body: name } } },
            ],
          },
        ],
      },
    ],
  }
}
