import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import type { ConfigHistory } from '../../admin/config-view.ts'
import type { Ir } from '../../ir/resources.ts'
import { generationOf } from '../../stream/index.ts'
import { request } from '../../testing/client.ts'
import { apply, configText, json, TOKEN, view } from '../../testing/edits.ts'
import { eventually, metric, type Program, runProgram, useConfigFile, useProgram } from '../../testing/process.ts'
import { closedPort, httpConfig, useOrigin } from '../../testing/scene.ts'
import { type ScriptedController, useController } from '../../testing/controller/scripted-controller.ts'

const KEY = randomBytes(32).toString('hex')

/** A Gateway with one listener, whose route goes to a Service. */
function irOf(port: number, paths: readonly string[] = ['/']): Ir {
  const [bind, listener] = [`bind/${port}`, `bind/${port}/http`]
  const service = 'service/shop/orders/80'
  return {
    binds: [{ key: bind, port, address: '127.0.0.1' }],
    listeners: [{ key: listener, bind, name: 'http', hostname: '', protocol: 'HTTP', tls: null }],
    routes: paths.map((value) => ({
      key: `${listener}${value}`,
      listener,
      name: value,
      rule: '',
      labels: {},
      hostnames: [],
      matches: [{ path: { kind: 'pathPrefix', value }, method: null, headers: [], query: [] }],
      backends: [{ key: `${listener}${value}/backend/0`, backend: service, weight: 1 }],
    })),
    backends: [
      {
        key: service,
        name: 'shop/orders:80',
        target: { kind: 'service', host: 'orders.shop.svc', port: 80, version: null },
      },
    ],
    policies: [],
  }
}

const endpoints = (...addresses: string[]) =>
  ({ type: 'endpoints', whole: true, put: [['service/shop/orders/80', addresses]], drop: [] }) as const

/** Programs end after the hooks of what they were started with, so what they write goes last of all. */
const folders = new Map<ScriptedController, string>()

function stateOf(controller: ScriptedController): string {
  const folder = folders.get(controller) ?? mkdtempSync(join(tmpdir(), 'portico-state-'))
  folders.set(controller, folder)
  return folder
}

function variables(controller: ScriptedController): Record<string, string> {
  const { address, caFile, tokenFile } = controller
  return {
    CONTROLLER_ADDR: address,
    CONTROLLER_CA_FILE: caFile,
    CONTROLLER_TOKEN_FILE: tokenFile,
    NAMESPACE: 'shop',
    GATEWAY: 'edge',
    POD_NAME: 'edge-1',
    SESSION_KEY: KEY,
    STATE_DIRECTORY: stateOf(controller),
    WORKER_THREADS: '2',
  }
}

const isReady = async (program: Program): Promise<boolean> =>
  (await fetch(`${program.readiness}/healthz/ready`)).status === 200

async function useDataPlane(t: TestContext, controller: ScriptedController, args: string[] = []): Promise<Program> {
  return useProgram(t, { args, env: variables(controller) })
}

describe('a data plane', () => {
  after(() => {
    for (const folder of folders.values()) rmSync(folder, { recursive: true, force: true })
  })

  it('serves what its controller says, is ready only then, and follows addresses without a new config', async (t) => {
    const [one, other] = [await useOrigin(t), await useOrigin(t)]
    const controller = await useController(t)
    const port = await closedPort()
    const program = await useDataPlane(t, controller)
    const stream = await controller.stream(0)
    assert.equal(stream.hello.gateway, 'shop/edge')
    assert.equal(stream.hello.instance, 'edge-1')
    assert.equal(await isReady(program), false)
    stream.send(endpoints(`127.0.0.1:${one.port}`))
    await stream.live(irOf(port))
    assert.equal(await isReady(program), true)
    assert.equal((await request(port, { path: '/' })).status, 200)
    assert.equal(one.seen.length, 1)
    assert.equal(await metric(program, 'portico_controller_connected'), 1)
    assert.ok((await metric(program, 'portico_controller_config_age_seconds')) < 60)
    const generations = await metric(program, 'portico_config_generation')

    stream.send(endpoints(`127.0.0.1:${other.port}`))
    await eventually('the other address is used', async () => {
      assert.equal((await request(port, { path: '/' })).status, 200)
      return other.seen.length > 0
    })
    assert.equal(await metric(program, 'portico_config_generation'), generations)

    assert.doesNotMatch(program.stdout(), /nothing is served/)
    const dump = (await (await fetch(`${program.admin}/config_dump`)).json()) as { controller?: object }
    assert.deepEqual(
      { ...dump.controller, ageSeconds: 0 },
      {
        connected: true,
        generation: generationOf(irOf(port)),
        ageSeconds: 0,
        received: 1,
        acked: 1,
        nacked: 0,
      },
    )
  })

  it('goes on serving while its controller is away, and after a restart without it', async (t) => {
    const origin = await useOrigin(t)
    const controller = await useController(t)
    const port = await closedPort()
    const first = await useDataPlane(t, controller)
    const stream = await controller.stream(0)
    stream.send(endpoints(`127.0.0.1:${origin.port}`))
    await stream.live(irOf(port))
    await controller.stop()
    await first.logged(/controller unavailable, the live config stays active/)
    await eventually('metrics say so', async () => (await metric(first, 'portico_controller_connected')) === 0)
    assert.equal((await request(port, { path: '/' })).status, 200)
    assert.equal(await isReady(first), true)
    await eventually(
      'it is kept',
      () => readdirSync(stateOf(controller)).filter((name) => name.endsWith('.sealed')).length === 2,
    )
    // Without a chance to write anything more.
    first.child.kill('SIGKILL')
    await first.ended

    const second = await useDataPlane(t, controller)
    await eventually('it is ready', () => isReady(second))
    await second.logged(/serving the stored config/)
    assert.equal((await request(port, { path: '/' })).status, 200)
    assert.equal(await metric(second, 'portico_controller_connected'), 0)

    await controller.start()
    const again = await controller.stream(1)
    again.knows(irOf(port))
    again.send(endpoints(`127.0.0.1:${origin.port}`))
    await again.live(irOf(port, ['/a', '/b']))
    assert.equal((await request(port, { path: '/' })).status, 404)
    assert.equal((await request(port, { path: '/a' })).status, 200)
    second.child.kill('SIGTERM')
    assert.deepEqual(await second.ended, { code: 0, signal: null })
  })

  it('runs its file too; both change by themselves, and one port is not for both', async (t) => {
    const origin = await useOrigin(t)
    const controller = await useController(t)
    const port = await closedPort()
    const fileRoute = (status: number) => [{ name: 'own', policies: { directResponse: { status } } }]
    const file = useConfigFile(t, httpConfig(fileRoute(201)))
    const program = await useDataPlane(t, controller, ['-f', file.file])
    const own = program.port()
    assert.equal((await request(own, { path: '/' })).status, 201)
    const stream = await controller.stream(0)
    stream.send(endpoints(`127.0.0.1:${origin.port}`))
    await stream.live(irOf(port))
    assert.deepEqual([(await request(own, {})).status, (await request(port, {})).status], [201, 200])

    file.edit(httpConfig(fileRoute(202)))
    await eventually('the file has changed', async () => (await request(own, {})).status === 202)
    assert.equal((await request(port, {})).status, 200)

    const clash = await closedPort()
    const moved = httpConfig(fileRoute(203))
    file.edit({ ...moved, binds: [{ ...(moved as { binds: object[] }).binds[0], port: clash }] })
    await eventually('the file has moved', async () => {
      try {
        return (await request(clash, {})).status === 203
      } catch {
        return false
      }
    })
    const both = { ...irOf(port), binds: [...irOf(port).binds, ...irOf(clash).binds] }
    const listeners = [...irOf(port).listeners, ...irOf(clash).listeners]
    const { generation } = stream.config({ ...both, listeners })
    await eventually('it is answered', () => stream.answers().length === 2)
    const answer = stream.answers()[1]
    const problem = `port ${clash} is in ${file.file} and in Gateway shop/edge of the controller: only one of them can have it`
    const object = `bind/${clash}`
    assert.deepEqual(answer, {
      type: 'ack',
      generation,
      quarantined: [{ object, problem, units: [`bind ${object}`] }],
    })
    assert.deepEqual([(await request(clash, {})).status, (await request(port, {})).status], [203, 200])

    // The file changes, and keeps its port.
    file.edit({
      ...httpConfig(fileRoute(204)),
      binds: [{ ...(httpConfig(fileRoute(204)) as { binds: object[] }).binds[0], port: clash }],
    })
    await eventually('the file has changed again', async () => (await request(clash, {})).status === 204)
    await stream.live(irOf(port, ['/', '/more']))
    await eventually('all is as wanted', async () => (await metric(program, 'portico_config_synchronized')) === 1)

    file.edit({
      ...httpConfig(fileRoute(205)),
      binds: [{ ...(httpConfig(fileRoute(205)) as { binds: object[] }).binds[0], port }],
    })
    await program.logged(/only one of them can have it/)
    assert.deepEqual([(await request(clash, {})).status, (await request(port, {})).status], [204, 200])
  })

  it('has its file changed by hand alone: the admin server says so, and writes nothing', async (t) => {
    const origin = await useOrigin(t)
    const controller = await useController(t)
    const port = await closedPort()
    const config = configText()
    const file = useConfigFile(t, config)
    const env = { ...variables(controller), ADMIN_TOKEN: TOKEN }
    const program = await useProgram(t, { args: ['-f', file.file], env })
    const stream = await controller.stream(0)
    stream.send(endpoints(`127.0.0.1:${origin.port}`))
    await stream.live(irOf(port))
    const { edit, text, version } = await view(program)
    assert.deepEqual([edit.isAllowed, /change the resources of its cluster/.test(edit.reason ?? '')], [false, true])
    const wanted = { text: text?.replace('first', 'second') ?? '', basedOn: version ?? '' }
    const [first] = (await json<ConfigHistory>(program, '/api/config/history')).generations
    for (const generation of [undefined, first?.generation ?? 0]) {
      const answer = await apply(program, { ...wanted, ...(generation !== undefined && { generation }) })
      assert.equal(answer.status, 403)
      assert.match(await answer.text(), /takes its config from a controller/)
    }
    assert.equal(readFileSync(file.file, 'utf8'), config)
    file.replace(configText({ body: 'third' }))
    await eventually('the file has changed', async () => (await request(program.port(), {})).body === 'third')
    await stream.live(irOf(port, ['/', '/more']))
    assert.deepEqual([(await request(program.port(), {})).body, (await request(port, {})).status], ['third', 200])
    assert.deepEqual((await view(program)).problems, [])
  })

  it('changes under load fail no request, with the controller coming and going', async (t) => {
    const origin = await useOrigin(t)
    const controller = await useController(t)
    const port = await closedPort()
    await useDataPlane(t, controller)
    const first = await controller.stream(0)
    first.send(endpoints(`127.0.0.1:${origin.port}`))
    await first.live(irOf(port))
    const load = { isOver: false, asked: 0 }
    const failures: number[] = []
    const asking = (async () => {
      while (!load.isOver) {
        const { status } = await request(port, { path: '/x' })
        load.asked++
        if (status !== 200) failures.push(status)
      }
    })()
    for (let round = 0; round < 10; round++) await first.live(irOf(port, ['/', `/${round}`]))
    await controller.stop()
    await controller.start()
    const second = await controller.stream(1)
    second.knows(irOf(port, ['/', '/9']))
    second.send(endpoints(`127.0.0.1:${origin.port}`))
    for (let round = 0; round < 10; round++) await second.live(irOf(port, ['/', `/again${round}`]))
    load.isOver = true
    await asking
    assert.ok(load.asked > 20)
    assert.deepEqual(failures, [])
  })

  const wrong: Record<string, [Record<string, string>, RegExp]> = {
    'an address without a port': [{ CONTROLLER_ADDR: 'localhost' }, /CONTROLLER_ADDR: expected host:port/],
    'no authority': [{ CONTROLLER_CA_FILE: '' }, /CONTROLLER_CA_FILE: expected a file/],
    'no token': [{ CONTROLLER_TOKEN_FILE: '' }, /CONTROLLER_TOKEN_FILE: expected a file with the token/],
    'a key that is none': [{ SESSION_KEY: 'abc' }, /SESSION_KEY: expected 64 hexadecimal digits/],
  }
  for (const [name, [env, pattern]] of Object.entries(wrong)) {
    it(`with ${name} does not start`, async (t) => {
      const controller = await useController(t)
      const { code, stderr } = await runProgram({
        env: { ...variables(controller), ADMIN_ADDR: 'off', STATS_ADDR: 'off', READINESS_ADDR: 'off', ...env },
      })
      assert.equal(code, 2)
      assert.match(stderr, pattern)
    })
  }

  it('checks its file without asking its controller', async (t) => {
    const controller = await useController(t)
    const file = useConfigFile(t, httpConfig([]))
    const { code } = await runProgram({ args: ['-f', file.file, '--validate-only'], env: variables(controller) })
    assert.equal(code, 0)
    assert.equal(controller.streams.length, 0)
  })
})
