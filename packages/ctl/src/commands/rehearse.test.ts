import assert from 'node:assert/strict'
import { get } from 'node:http'
import { describe, test, type TestContext } from 'node:test'
import { eventually, useConfigFile, useProgram } from '../../../gateway/src/testing/process.ts'
import { useServer } from '../testing/fake-gateway.ts'
import { runCommand, runProgram, startProgram } from '../testing/program.ts'

/** Starts a gateway whose backend answers each request with 200. */
async function useShop(t: TestContext) {
  const origin = await useServer(t, (_request, response) => response.end('ok'))
  const routes = [{ name: 'shop', backends: [{ backend: 'orders' }] }]
  const config = {
    config: { workers: 1 },
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes }] }],
    backends: [{ name: 'orders', static: { host: '127.0.0.1', port: origin } }],
  }
  const gateway = await useProgram(t, { args: ['-f', useConfigFile(t, config).file] })
  const status = () =>
    new Promise<number>((resolve, reject) => {
      const call = get({ host: '127.0.0.1', port: gateway.port(), agent: false }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      call.on('error', reject)
    })
  return { gateway, status, admin: ['--admin', new URL(gateway.admin).host] }
}

describe('porticoctl rehearse', () => {
  test('rehearses until its time is over, and shows what clients saw', async (t) => {
    const { status, admin } = await useShop(t)
    const program = startProgram(['rehearse', '--backend', 'orders', '--status', '503', '--for', '3s', ...admin])
    await program.told('Ctrl-C ends it')
    assert.deepEqual([await status(), await status()], [503, 503])
    const { code, stdout, stderr } = await program.ended
    assert.equal(code, 0, stderr)
    assert.match(stderr, /100 % of the calls to the backend orders get status 503 for 3 s, on 1 route/)
    assert.match(stdout, /^REQUESTS +STATUS +OUTCOME +MEDIAN +LONGEST\n2 +503 +failed +\d+ ms +\d+ ms\n$/)
    assert.equal(await status(), 200)
  })

  test('is over on time when the gateway, whose time began before its answer, ends it first', async (t) => {
    const view = {
      id: 'a',
      subject: { kind: 'backend', name: 'b' },
      by: 'c',
      percentage: 100,
      delayMs: null,
      status: 503,
    }
    const port = await useServer(t, (request, response) => {
      if (request.url === '/api/rehearsal/start') {
        const started = { ...view, startedAt: 0, endsAt: 300, leaseMs: 300, routes: ['r'] }
        return void setTimeout(() => response.end(JSON.stringify(started)), 500)
      }
      response.statusCode = 410
      response.end('the rehearsal is over: its time is over')
    })
    const args = ['rehearse', '--backend', 'b', '--status', '503', '--for', '300ms', '--admin', `127.0.0.1:${port}`]
    const { code, stderr } = await runCommand(args)
    assert.equal(code, 0, stderr)
  })

  test('is over at once when it is interrupted', async (t) => {
    const { status, admin } = await useShop(t)
    const args = ['rehearse', '--route', 'shop', '--status', '500', '--for', '1h', '-o', 'json', ...admin]
    const program = startProgram(args)
    await program.told('Ctrl-C ends it')
    assert.equal(await status(), 500)
    program.child.kill('SIGINT')
    const { code, stdout } = await program.ended
    assert.equal(code, 130)
    const { requests, results } = JSON.parse(stdout) as { requests: number; results: { status: number }[] }
    assert.deepEqual([requests, results[0]?.status], [1, 500])
    assert.equal(await status(), 200)
  })

  test('that is killed leaves a gateway that ends the rehearsal by itself', async (t) => {
    const { status, admin } = await useShop(t)
    const program = startProgram(['rehearse', '--backend', 'orders', '--status', '503', '--for', '1h', ...admin])
    await program.told('Ctrl-C ends it')
    assert.equal(await status(), 503)
    program.child.kill('SIGKILL')
    assert.equal((await program.ended).signal, 'SIGKILL')
    await eventually('over', async () => (await status()) === 200)
  })

  test('is ended from elsewhere, and a second one is refused', async (t) => {
    const { admin } = await useShop(t)
    const program = startProgram(['rehearse', '--backend', 'orders', '--delay', '10ms', '--for', '1h', ...admin])
    await program.told('Ctrl-C ends it')
    const second = await runProgram(['rehearse', '--route', 'shop', '--status', '500', ...admin])
    assert.deepEqual([second.code, second.stdout], [1, ''])
    assert.match(second.stderr, /the rehearsal [0-9a-f]+ of the backend orders runs until/)
    const stopped = await runProgram(['rehearse', '--stop', ...admin])
    assert.equal(stopped.code, 0, stopped.stderr)
    const { code, stdout, stderr } = await program.ended
    assert.equal(code, 1)
    assert.match(stderr, /the rehearsal is over: it was ended/)
    assert.match(stdout, /no request was rehearsed/)
    assert.equal((await runProgram(['rehearse', '--stop', ...admin])).code, 1)
  })

  test('refuses options that say nothing, or too much', async () => {
    for (const args of [
      ['--status', '503'],
      ['--backend', 'a'],
      ['--backend', 'a', '--route', 'b', '--status', '503'],
      ['--backend', 'a', '--status', '200'],
      ['--backend', 'a', '--status', '503', '--share', '0%'],
      ['--backend', 'a', '--status', '503', '--share', 'half'],
      ['--backend', 'a', '--status', '503', '-o', 'yaml'],
      ['--backend', 'a', '--status', '503', 'now'],
      ['--stop', '--backend', 'a'],
    ]) {
      const { code, stderr } = await runCommand(['rehearse', ...args])
      assert.equal(code, 2, args.join(' '))
      assert.match(stderr, /^porticoctl rehearse: /)
    }
  })
})
