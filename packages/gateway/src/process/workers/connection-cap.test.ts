import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { useFleet } from '../../testing/workers/fleet.ts'
import { eventually, metric, useConfigFile, useProgram } from '../../testing/process.ts'

const MOST = 5
const config = {
  frontend: { tcp: { maxConnections: MOST } },
  binds: [
    {
      port: 0,
      address: '127.0.0.1',
      listeners: [{ routes: [{ policies: { directResponse: { status: 200, body: 'ok' } } }] }],
    },
  ],
}

/** A connection, once it has been answered or turned away. */
function visit(port: number): Promise<{ socket: Socket; isServed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.on('data', () => resolve({ socket, isServed: true }))
    socket.on('close', () => resolve({ socket, isServed: false }))
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  })
}

test('the limit of a port holds over all workers, and a worker that dies takes its connections along', async (t) => {
  const fleet = await useFleet(t, { workers: 3 })
  const open = new Set<Socket>()
  t.after(() => open.forEach((socket) => socket.destroy()))
  await fleet.apply(config)
  /** Knocks until as many are in as may be. */
  const fill = async (): Promise<void> => {
    while (open.size < MOST) {
      const { socket, isServed } = await visit(fleet.port())
      if (!isServed) continue
      open.add(socket)
      socket.on('close', () => open.delete(socket))
    }
  }
  await fill()
  const crowd = await Promise.all(Array.from({ length: 30 }, () => visit(fleet.port())))
  assert.equal(crowd.filter(({ isServed }) => isServed).length, 0)
  const refused = /^portico_downstream_connections_refused_total\{.*reason="max_connections"\} (\d+)$/m
  // A client may see its connection closed before the worker has counted it.
  let metrics = ''
  await eventually('all refusals counted', () => {
    metrics = [...fleet.collector.render()].join('')
    return Number(refused.exec(metrics)?.[1]) >= 30
  })
  assert.match(metrics, new RegExp(`^portico_downstream_connections_active\\{.*\\} ${MOST}$`, 'm'))

  fleet.tell({ name: null, how: 'die' })
  await eventually('all lost', () => open.size === 0)
  await eventually('as many workers again', () => fleet.restarts() === 3 && fleet.supervisor.size === 3)
  await fill()
  assert.equal((await visit(fleet.port())).isServed, false)
})

test('a port that is full says so in the log now and then, not for each', async (t) => {
  const { file } = useConfigFile(t, { ...config, config: { workers: 1 }, frontend: { tcp: { maxConnections: 1 } } })
  const program = await useProgram(t, { args: ['-f', file] })
  const { socket, isServed } = await visit(program.port())
  t.after(() => socket.destroy())
  assert.equal(isServed, true)
  for (let i = 0; i < 20; i++) assert.equal((await visit(program.port())).isServed, false)
  await program.logged(/warn\tworker\tconnections refused.*maxConnections.*refused=1\n/)
  assert.equal(await metric(program, 'portico_downstream_connections_refused_total'), 20)
  assert.ok(program.stdout().split('connections refused').length <= 3)
})
