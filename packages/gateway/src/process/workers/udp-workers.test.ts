import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../testing/process.ts'
import { UdpClient, useUdpServer } from '../../testing/udp.ts'
import { useFleet } from '../../testing/workers/fleet.ts'

const CLIENTS = 24

test('each session stays in one of two workers, over a reload, and a limit holds over both', async (t) => {
  const echo = await useUdpServer(t)
  const fleet = await useFleet(t, { workers: 2 })
  const config = (maxSessions: number, more: object[] = []) => ({
    frontend: { udp: { maxSessions } },
    binds: [
      {
        port: 0,
        address: '127.0.0.1',
        listeners: [{ protocol: 'UDP', name: 'echo', routes: [{ backends: [{ host: echo.host }] }] }],
      },
      ...more,
    ],
  })
  await fleet.apply(config(CLIENTS))
  const port = fleet.gateway.ports['bind/udp/0'] ?? assert.fail('no port')
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => UdpClient.open(t, port)))
  const askAll = () => Promise.all(clients.map((client) => client.ask(client.source)))
  const expected = clients.map(({ source }) => source)
  for (let round = 0; round < 3; round++) assert.deepEqual(await askAll(), expected)
  assert.equal(echo.sources.size, CLIENTS)
  const series = (name: string): number =>
    Number(new RegExp(`^portico_${name}\\{[^}]*\\} (\\d+)$`, 'm').exec([...fleet.collector.render()].join(''))?.[1])
  assert.equal(series('downstream_connections_active'), CLIENTS)
  assert.equal(series('downstream_datagrams_received_total'), 3 * CLIENTS)
  const late = await UdpClient.open(t, port)
  late.send('one too many')
  await eventually('it is dropped', () => series('downstream_datagrams_dropped_total') === 1)

  await fleet.apply(config(CLIENTS + 1, [{ port: 0, address: '127.0.0.1', listeners: [{}] }]))
  assert.deepEqual(await askAll(), expected)
  assert.equal(echo.sources.size, CLIENTS)
  assert.equal(await late.ask('room'), 'room')
})
