import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { parseResponse } from '../../testing/client.ts'
import { RawClient } from '../../testing/http/http1-server.ts'
import { eventually, PROGRAM, type RunOptions, useConfigFile, useProgram } from '../../testing/process.ts'
import { useOrigin } from '../../testing/scene.ts'
import { onEndSignal } from './end-signals.ts'

const GET = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

test('a signal that a launcher passes on is not counted again', () => {
  const process = new EventEmitter() as unknown as NodeJS.Process
  const asked: number[] = []
  onEndSignal(process, (times) => asked.push(times))
  for (const signal of ['SIGINT', 'SIGUSR2', 'SIGUSR2', 'SIGTERM', 'SIGTERM']) process.emit(signal as 'SIGINT')
  assert.deepEqual(asked, [1, 2, 3])
})

/** A request that the backend answers when it is told to, behind a gateway that is started in some way. */
async function useBusy(t: TestContext, options: RunOptions) {
  let answer = (): void => {}
  const origin = await useOrigin(t, (_request, response) => (answer = () => response.end('late')))
  const { file, folder } = useConfigFile(t, {
    config: { workers: 1, connectionTerminationDeadline: '1h' },
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes: [{ backends: [{ host: origin.host }] }] }] }],
  })
  // Older versions of the runtime start the pinned one: as they do, whichever runs this test.
  const launcher = join(folder, 'launcher.mjs')
  const runtime = new URL('../../../bin/runtime.mjs', import.meta.url).href
  const end = `{ endSignal: 'SIGUSR2' }`
  writeFileSync(
    launcher,
    `import { runPinned } from '${runtime}'\nrunPinned('${PROGRAM}', process.argv.slice(2), ${end})`,
  )
  const command = options.command ?? [process.execPath, launcher]
  const program = await useProgram(t, { ...options, command, args: ['-f', file] })
  const pid = program.child.pid ?? 0
  const group = options.group === true
  // The launcher may be gone while the program is not.
  if (group) t.after(() => signalled(() => process.kill(-pid, 'SIGKILL')))
  const client = new RawClient(program.port())
  t.after(() => client.socket.destroy())
  client.send(GET)
  await eventually('in flight', () => origin.seen.length === 1)
  return { program, pid, client, answer: () => answer() }
}

function signalled(kill: () => void): void {
  try {
    kill()
  } catch {
    // Nobody is left.
  }
}

describe('a signal to end', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`drains once when launcher and program both get ${signal}`, async (t) => {
      const { program, pid, client, answer } = await useBusy(t, { group: true })
      process.kill(-pid, signal)
      await program.logged(/draining/)
      answer()
      assert.equal(parseResponse(await client.all()).body, 'late')
      assert.deepEqual(await program.ended, { code: 0, signal: null })
    })
  }

  test('drains when the launcher alone gets it', async (t) => {
    const { program, client, answer } = await useBusy(t, { group: true })
    program.child.kill('SIGTERM')
    await program.logged(/draining/)
    answer()
    assert.equal(parseResponse(await client.all()).body, 'late')
    assert.deepEqual(await program.ended, { code: 0, signal: null })
  })

  test('stops at once when a terminal sends it twice', async (t) => {
    const { program, pid, client } = await useBusy(t, { group: true })
    process.kill(-pid, 'SIGINT')
    await program.logged(/draining/)
    process.kill(-pid, 'SIGINT')
    assert.deepEqual(await program.ended, { code: 0, signal: null })
    assert.equal(await client.all(), '')
  })

  test('drains the first process of a container', async (t) => {
    const unshare = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child']
    try {
      execFileSync('unshare', [...unshare.slice(1), 'true'], { stdio: 'ignore' })
    } catch {
      return t.skip('no right to make a PID namespace here')
    }
    const { program, pid, client, answer } = await useBusy(t, { command: [...unshare, process.execPath, PROGRAM] })
    const first = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
    process.kill(first, 'SIGTERM')
    await program.logged(/draining/)
    answer()
    assert.equal(parseResponse(await client.all()).body, 'late')
    assert.deepEqual(await program.ended, { code: 0, signal: null })
  })
})
