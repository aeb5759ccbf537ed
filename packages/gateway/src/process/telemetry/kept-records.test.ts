import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { RequestList } from '../../telemetry/recorder/record.ts'
import { request } from '../../testing/client.ts'
import { canMount, withMounts } from '../../testing/mounts.ts'
import { eventually, type Program, useConfigFile, useProgram } from '../../testing/process.ts'

/** Records on a disk that does not take them: requests pass, lists have what there is, and the log says why. */

const CONFIG = `config: { workers: 1 }
frontend: { recorder: { disk: { folder: records } } }
binds:
- port: 0
  address: 127.0.0.1
  listeners: [{ routes: [{ policies: { directResponse: { status: 200 } } }] }]
`

async function paths(program: Program): Promise<(string | null)[]> {
  const answer = await fetch(`${program.admin}/api/requests`)
  assert.equal(answer.status, 200)
  return ((await answer.json()) as RequestList).requests.map(({ path }) => path)
}

async function ask(program: Program, path: string): Promise<void> {
  assert.equal((await request(program.port(), { path })).status, 200)
  await eventually('it is listed', async () => (await paths(program)).includes(path))
}

async function useEarlier(t: TestContext) {
  const config = useConfigFile(t, CONFIG)
  const first = await useProgram(t, { args: ['-f', config.file] })
  await ask(first, '/earlier')
  first.child.kill('SIGTERM')
  assert.equal((await first.ended).code, 0)
  return { ...config, records: join(config.folder, 'records') }
}

test('on a read-only disk earlier records are listed beside those in memory', async (t) => {
  if (!canMount(t)) return
  const { file, records } = await useEarlier(t)
  const files = readdirSync(records)
  const mount = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"'
  const program = await useProgram(t, { command: withMounts(mount, records, file), args: ['-f', file] })
  await ask(program, '/now')
  await program.logged(/records could not be written.*EROFS/)
  assert.deepEqual(await paths(program), ['/now', '/earlier'])
  assert.deepEqual(readdirSync(records), files)
  program.child.kill('SIGTERM')
  assert.equal((await program.ended).code, 0)
})

test('on a full disk records stay in memory, and are written once there is room', async (t) => {
  if (!canMount(t)) return
  const { file, folder } = useConfigFile(t, CONFIG)
  const records = join(folder, 'records')
  mkdirSync(records)
  // All of it is taken but for less than a page.
  const mount = 'mount -t tmpfs -o size=64k none "$1" && { head -c 65536 /dev/zero > "$1/others" || true; }'
  const program = await useProgram(t, { command: withMounts(mount, records, file), args: ['-f', file] })
  for (const path of ['/one', '/two']) await ask(program, path)
  await program.logged(/records could not be written.*ENOSPC/)
  assert.deepEqual(await paths(program), ['/two', '/one'])
  const inside = join(`/proc/${program.child.pid}/root`, records)
  assert.ok(existsSync(join(inside, 'others')))
  rmSync(join(inside, 'others'))
  const bytes = async (): Promise<number> => {
    const state = (await (await fetch(`${program.admin}/api/state`)).json()) as { recorder: { diskBytes: number } }
    return state.recorder.diskBytes
  }
  await eventually('they are written', async () => (await bytes()) > 0)
  assert.deepEqual(await paths(program), ['/two', '/one'], 'each once')
  assert.equal(readdirSync(inside).length, 1)
})
