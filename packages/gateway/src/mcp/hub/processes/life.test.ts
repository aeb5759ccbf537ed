import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '../../../testing/process.ts'
import type { ProcessLink } from '../../hub.ts'
import { processContents } from '../../../compile/stdio-processes.ts'
import { contentOf } from '../process-content.ts'
import {
  ask,
  begin,
  cheapServer,
  failure,
  fakeServer,
  isAlive,
  pidOf,
  recorder,
  request,
  result,
  tell,
  notification,
  useHub,
} from './test-process.ts'

describe('the life of a process', () => {
  test('ends with its session', async (t) => {
    const link = useHub(t).workers[0]!.process(fakeServer(), 'one')
    await begin(link)
    const pid = await pidOf(link)
    const waiting = ask(link, request('hold'))
    link.end()
    assert.equal((await waiting).failure?.message, 'the session has ended')
    await eventually('gone', () => !isAlive(pid))
    assert.equal((await failure(link, request('pid'))).code, 'session_lost')
  })

  test('ends with the gateway, and so does what it started, however deaf it is', async (t) => {
    const hub = useHub(t)
    const link = hub.workers[0]!.process(fakeServer({}, '--deaf', '--child'), 'one')
    await begin(link)
    const pid = await pidOf(link)
    await eventually('said', () => /child \d+/.test(hub.logged()))
    const child = Number(/child (\d+)/.exec(hub.logged())![1])
    assert.ok(isAlive(child))
    await hub.main.close()
    assert.deepEqual([isAlive(pid), isAlive(child)], [false, false])
  })

  test('takes with it what it started, when it ends by itself', async (t) => {
    const hub = useHub(t)
    const link = hub.workers[0]!.process(fakeServer({}, '--child'), 'one')
    await begin(link)
    await eventually('said', () => /child \d+/.test(hub.logged()))
    const child = Number(/child (\d+)/.exec(hub.logged())![1])
    assert.match((await failure(link, request('exit', { code: 3 }))).message, /ended with code 3/)
    await eventually('gone', () => !isAlive(child))
  })

  for (const [end, how] of [
    ['by itself', (link: ProcessLink) => failure(link, request('exit', { code: 3 }))],
    ['with its session', (link: ProcessLink) => Promise.resolve(link.end())],
  ] as const) {
    test(`takes with it what it started in a session of its own, when it ends ${end}`, async (t) => {
      const hub = useHub(t)
      const link = hub.workers[0]!.process(fakeServer({}, '--stray'), 'one')
      await begin(link)
      await eventually('said', () => /child \d+/.test(hub.logged()))
      const stray = Number(/child (\d+)/.exec(hub.logged())![1])
      assert.ok(isAlive(stray))
      await how(link)
      await eventually('gone', () => !isAlive(stray))
    })
  }

  for (const processes of ['PerSession', 'Shared'] as const) {
    for (const [method, message] of [
      ['batch', 'it sent an invalid message: Invalid Request: batches are not supported'],
      ['latin1', 'it sent an invalid message: Parse error: the message is not UTF-8'],
    ] as const) {
      test(`fails one call when its response is unusable: ${method}, ${processes}`, async (t) => {
        const link = useHub(t).workers[0]!.process(fakeServer({ processes }), 'one')
        await begin(link)
        const held = ask(link, request('hold'))
        const { code, message: said } = await failure(link, request(method))
        assert.deepEqual([code, said], ['bad_answer', message])
        assert.deepEqual(await result(link, request('release')), {})
        assert.deepEqual((await held).messages.at(-1)?.value.result, { released: true })
      })
    }

    test(`that lives without its pipes is ended, and fails what is under way: ${processes}`, async (t) => {
      const link = useHub(t).workers[0]!.process(fakeServer({ processes }), 'one')
      await begin(link)
      const pid = await pidOf(link)
      assert.match((await failure(link, request('close', { descriptor: 1 }))).message, /closed its standard output/)
      await eventually('gone', () => !isAlive(pid))
    })
  }

  test('that ends fails what is under way, with its last words, and the session goes on once begun again', async (t) => {
    const { workers } = useHub(t, 2)
    const spec = fakeServer()
    const [link, other] = workers.map((worker) => worker.process(spec, 'one')) as [never, never]
    await begin(link)
    const waiting = ask(other, request('hold'))
    const died = await failure(link, request('exit', { code: 9 }))
    assert.equal(died.code, 'broken')
    assert.equal(died.message, 'it ended with code 9; last line on stderr: about to exit')
    assert.deepEqual((await waiting).failure, died)
    assert.equal((await failure(other, request('pid'))).code, 'session_lost')
    await begin(other)
    assert.ok(await pidOf(link))
  })

  test('that ends again and again is started later and later, and says why', async (t) => {
    const link = useHub(t).workers[0]!.process(fakeServer({ env: { LUCK_TOKEN: 'secret-4711' } }, '--die'), 'one')
    const start = () => failure(link, request('initialize', { protocolVersion: '2025-11-25' }))
    assert.deepEqual([(await start()).code, (await start()).code], ['broken', 'broken'])
    let refused = await start()
    // A slow machine may take longer than the first wait.
    while (refused.code === 'broken') refused = await start()
    assert.equal(refused.code, 'unavailable')
    assert.match(
      refused.message,
      /^it restarts in \d+ ms at the earliest: it ended with code 7; .*no luck with \*\*\*$/,
    )
    const lost = await failure(link, request('pid'))
    assert.equal(lost.code, 'unavailable')
  })

  test('that cannot begin is unavailable, and says why', async (t) => {
    const link = useHub(t).workers[0]!.process(fakeServer({ cmd: '/nowhere/at-all' }), 'one')
    const { code, message } = await failure(link, request('initialize'))
    assert.equal(code, 'unavailable')
    assert.match(message, /cannot be started: .*ENOENT/)
    const bad = useHub(t).workers[0]!.process(fakeServer({ args: ['a\0b'] }), 'one')
    assert.match((await failure(bad, request('initialize'))).message, /cannot be started: /)
  })

  test('ends when nobody asks for a while, but not while somebody waits or listens', async (t) => {
    const worker = useHub(t).workers[0]!
    const spec = fakeServer({ idleTimeoutMs: 200 })
    const link = worker.process(spec, 'one')
    await begin(link)
    const pid = await pidOf(link)
    /** Waits until another one, that nobody asks, has begun and ended. */
    const othersEnd = async (session: string): Promise<void> => {
      const other = worker.process(spec, session)
      await begin(other)
      const otherPid = await pidOf(other)
      await eventually('gone', () => !isAlive(otherPid))
    }
    const { sink } = recorder()
    const listening = link.listen(sink)
    const waiting = ask(link, request('hold'))
    await othersEnd('two')
    assert.ok(isAlive(pid))
    waiting.call.cancel(new Error('enough'))
    await othersEnd('three')
    assert.ok(isAlive(pid))
    listening.cancel(new Error('enough'))
    await eventually('gone', () => !isAlive(pid))
  })

  test('is refused with the reason when there are more sessions than processes', async (t) => {
    const hub = useHub(t)
    const spec = fakeServer({ maxProcesses: 2 })
    const links = ['one', 'two', 'three'].map((session) => hub.workers[0]!.process(spec, session)) as [
      never,
      never,
      never,
    ]
    await begin(links[0])
    await begin(links[1])
    const { code, message } = await failure(links[2], request('initialize'))
    assert.equal(code, 'unavailable')
    assert.match(message, /reached maxProcesses \(2\)/)
    const pid = await pidOf(links[0])
    hub.workers[0]!.process(spec, 'one').end()
    await eventually('gone', () => !isAlive(pid))
    await eventually('room', async () => (await ask(links[2], request('initialize'))).failure === null)
  })

  test('outlives workers; their requests are forgotten', async (t) => {
    const { main, workers } = useHub(t, 2)
    const spec = fakeServer()
    const [mortal, other] = workers.map((worker) => worker.process(spec, 'one')) as [never, never]
    await begin(mortal)
    const pid = await pidOf(other)
    void ask(mortal, request('hold', {}, 'mine'))
    await pidOf(mortal)
    main.died(0)
    const again = ask(other, request('hold', {}, 'mine'))
    await result(other, request('release'))
    assert.equal((await again).failure, null)
    assert.equal(await pidOf(other), pid)
  })

  test('ends when the config loses its target, after what is under way', async (t) => {
    const { main, workers } = useHub(t)
    const [gone, kept] = [fakeServer({ key: 'gone' }), fakeServer({ key: 'kept' })]
    const links = [gone, kept].map((spec) => workers[0]!.process(spec, 'one')) as [never, never]
    await begin(links[0])
    await begin(links[1])
    const pids = [await pidOf(links[0]), await pidOf(links[1])] as const
    const waiting = ask(links[0], request('hold'))
    await main.keepProcesses(new Set([contentOf(kept)]))
    waiting.call.cancel(new Error('enough'))
    await eventually('gone', () => !isAlive(pids[0]))
    assert.ok(isAlive(pids[1]))
  })

  test('ends after the idle limit for each of hundreds of sessions that nobody ends', async (t) => {
    const hub = useHub(t, 2)
    const spec = cheapServer({ maxProcesses: 40, idleTimeoutMs: 400 })
    const each = process.env['PROPERTIES'] === 'full' ? 50 : 10
    let served = 0
    let refused = 0
    await Promise.all(
      Array.from({ length: 20 }, async (_, lane) => {
        for (let at = 0; at < each; at++) {
          const link = hub.workers[at % 2]!.process(spec, `${lane}.${at}`)
          const { failure } = await ask(link, request('initialize', {}, 1))
          if (failure === null) {
            served++
            await tell(link, notification('notifications/initialized'))
          } else {
            assert.match(failure.message, /maxProcesses \(40\)/)
            refused++
            await new Promise((resolve) => setTimeout(resolve, 20))
          }
        }
      }),
    )
    assert.equal(served + refused, 20 * each)
    assert.ok(served >= 40)
    t.diagnostic(`${served} served, ${refused} refused`)
    const started = [...hub.logged().matchAll(/started.*pid=(\d+)/g)].map((match) => Number(match[1]))
    assert.equal(started.length, served)
    await eventually('none left', () => started.every((pid) => !isAlive(pid)))
  })
})

describe('specs of a config', () => {
  test('are those of its programs', () => {
    const program = { cmd: 'x', args: ['y'], env: {}, clearEnv: false, processes: 'Shared' as const, maxProcesses: 3 }
    const timeouts = { start: 1, initialize: 2, list: 3 }
    const ir = {
      binds: [],
      listeners: [],
      routes: [],
      policies: [],
      backends: [
        {
          key: 'b',
          name: 'b',
          target: {
            kind: 'mcp' as const,
            targets: [
              { key: 'b/section/p', name: 'p', reached: { by: 'stdio' as const, ...program }, timeouts, tools: null },
              {
                key: 'b/section/h',
                name: 'h',
                reached: { by: 'http' as const, host: 'h', port: 1, path: '/', protocol: 'SSE' as const },
                timeouts,
                tools: null,
              },
            ],
            sessionRouting: 'Stateful' as const,
            failureMode: 'FailClosed' as const,
            prefixMode: 'Never' as const,
            sessionIdleTimeout: 5,
            maxMessageSize: 7,
            sessionLifetime: 6,
          },
        },
      ],
    }
    const spec = {
      key: 'b/section/p',
      name: 'p',
      ...program,
      cwd: null,
      idleTimeoutMs: 5,
      maxMessageBytes: 7,
      startTimeoutMs: 1,
      beginTimeoutMs: 3,
    }
    assert.deepEqual([...processContents(ir)], [contentOf(spec)])
  })
})
