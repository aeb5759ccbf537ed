import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { endpointHashesOf, endpointPart, generationOf, hashesOf } from '@portico/gateway/stream'
import { irOf, usePublisher } from '../testing/publisher-scene.ts'

describe('a data plane', () => {
  it('without state gets everything, addresses before the config that needs them', async (t) => {
    const { publisher, connect, changed } = await usePublisher(t)
    publisher.publish('shop/web', irOf(3))
    publisher.reach('shop/web', { 'backend/b0': ['10.0.0.7:80'] })
    const client = await connect().hello().received('config')
    assert.deepEqual(
      client.messages.map(({ type }) => type),
      ['endpoints', 'config'],
    )
    assert.equal(client.of('config')[0]?.base, null)
    assert.equal(client.of('endpoints')[0]?.whole, true)
    assert.deepEqual(client.ir, irOf(3))
    assert.deepEqual(client.endpoints, { 'backend/b0': ['10.0.0.7:80'] })
    assert.deepEqual(publisher.stateOf('shop/web'), { connected: 1, acknowledged: false, problems: [] })
    client.ack()
    await settled(() => publisher.stateOf('shop/web').acknowledged)
    assert.deepEqual(changed, ['shop/web', 'shop/web'])
  })

  it('is identified by the Pod of its token, so that replicas with one name do not replace each other', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.publish('shop/web', irOf(1))
    const one = await connect({ token: 'shop/web/pod-1' }).hello({ instance: 'same' }).received('config')
    const other = await connect({ token: 'shop/web/pod-2' }).hello({ instance: 'same' }).received('config')
    assert.equal(publisher.stateOf('shop/web').connected, 2)
    one.ack()
    other.ack()
    await settled(() => publisher.stateOf('shop/web').acknowledged)
    assert.deepEqual([one.of('goodbye'), other.of('goodbye')], [[], []])
    await connect({ token: 'shop/web/pod-1' }).hello({ instance: 'other' }).received('config')
    assert.equal(publisher.stateOf('shop/web').connected, 2)
  })

  it('that connects before its Gateway is known waits, and gets pings', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    const client = await connect().hello().received('ping')
    assert.deepEqual(client.messages, [{ type: 'ping' }])
    publisher.publish('shop/web', irOf(1))
    await client.received('config')
    assert.deepEqual(client.ir, irOf(1))
  })

  it('that reconnects gets the difference to its reported state', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.publish('shop/web', irOf(50, { 7: 'new.example' }))
    const had = irOf(49)
    const client = connect()
    client.ir = had
    await client.hello({ have: { generation: generationOf(had), hashes: hashesOf(had) } }).received('config')
    const [config] = client.of('config')
    assert.equal(config?.base, generationOf(had))
    assert.deepEqual(
      config?.change.backends.put.map(({ resource }) => resource.key),
      ['backend/b7', 'backend/b49'],
    )
    assert.deepEqual(client.ir, irOf(50, { 7: 'new.example' }))
  })

  it('with a newer version is served too: unknown fields are ignored', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.publish('shop/web', irOf(2))
    const client = connect()
    const have = { generation: generationOf(irOf(1)), hashes: { ...hashesOf(irOf(1)), extras: [] } }
    const who = { gateway: 'shop/web', instance: 'web-1', version: '9', zone: 'a' }
    client.stream.write(`${JSON.stringify({ type: 'hello', ...who, have, endpoints: null })}\n`)
    await client.received('config')
    assert.equal(client.of('config')[0]?.base, null)
    assert.deepEqual(client.ir, irOf(2))
    client.stream.write('{"type":"load","requests":2}\n')
    client.ack()
    await settled(() => publisher.stateOf('shop/web').acknowledged)
    assert.equal(publisher.counts.refused.malformed, 0)
  })

  it('with the newest state is asked to acknowledge it', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.publish('shop/web', irOf(5))
    const client = connect()
    client.ir = irOf(5)
    await client
      .hello({ have: { generation: generationOf(client.ir), hashes: hashesOf(client.ir) } })
      .received('config')
    assert.deepEqual(client.of('config')[0]?.change.backends, { put: [], drop: [] })
    client.ack()
    await settled(() => publisher.stateOf('shop/web').acknowledged)
  })

  it('that reports a key twice gets the full config', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.publish('shop/web', irOf(2))
    const hashes = hashesOf(irOf(2))
    const twice = { ...hashes, backends: [...hashes.backends, ...hashes.backends] }
    const client = await connect()
      .hello({ have: { generation: generationOf(irOf(2)), hashes: twice } })
      .received('config')
    assert.equal(client.of('config')[0]?.base, null)
    assert.deepEqual(client.ir, irOf(2))
  })

  it('gets the newest config after its acknowledgment, and none in between', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.publish('shop/web', irOf(1))
    const client = await connect().hello().received('config')
    for (let count = 2; count <= 9; count++) {
      publisher.publish('shop/web', irOf(count))
      await Promise.resolve()
    }
    client.ack()
    await client.received('config', 2)
    assert.equal(client.of('config')[1]?.base, generationOf(irOf(1)))
    assert.deepEqual(client.ir, irOf(9))
  })

  it('that never answers still gets newer configs', async (t) => {
    const { publisher, connect } = await usePublisher(t, { pingEveryMs: 20 })
    publisher.publish('shop/web', irOf(1))
    const client = await connect().hello().received('config')
    publisher.publish('shop/web', irOf(2))
    await client.received('config', 2)
    assert.deepEqual(client.ir, irOf(2))
  })

  it('that rejects a config reports why, until it accepts one; changes are relative to the rejected one', async (t) => {
    const { publisher, connect, changed } = await usePublisher(t)
    publisher.publish('shop/web', irOf(1))
    const client = await connect().hello().received('config')
    client.send({ type: 'nack', generation: generationOf(irOf(1)), problems: ['port 80 is taken', 'x'.repeat(9_000)] })
    await settled(() => publisher.stateOf('shop/web').problems.length === 2)
    assert.equal(publisher.stateOf('shop/web').problems[1]?.length, 2_000)
    assert.equal(publisher.counts.nacks, 1)
    publisher.publish('shop/web', irOf(2))
    await client.received('config', 2)
    assert.equal(client.of('config')[1]?.base, generationOf(irOf(1)))
    assert.equal(publisher.stateOf('shop/web').problems.length, 2)
    client.ack()
    await settled(() => publisher.stateOf('shop/web').acknowledged)
    assert.deepEqual(publisher.stateOf('shop/web').problems, [])
    const before = changed.length
    client.ack().send({ type: 'pong' })
    await settled(() => publisher.counts.acks === 2)
    assert.equal(changed.length, before)
  })

  it('that quarantines resources reports all of them, until it accepts a config without that', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.publish('shop/web', irOf(1))
    const client = await connect().hello().received('config')
    const generation = generationOf(irOf(1))
    const quarantined = ['route/shop/a', 'route/shop/b'].map((object) => ({ object, problem: 'no', units: [object] }))
    client.send({ type: 'ack', generation, quarantined })
    await settled(() => publisher.stateOf('shop/web').acknowledged)
    assert.deepEqual(publisher.stateOf('shop/web').quarantined, quarantined)
    client.send({ type: 'ack', generation })
    await settled(() => publisher.counts.acks === 2)
    assert.equal(publisher.stateOf('shop/web').quarantined, undefined)
  })

  it('that disconnects no longer counts', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.publish('shop/web', irOf(1))
    const client = await connect().hello().received('config')
    client.ack()
    await settled(() => publisher.stateOf('shop/web').acknowledged)
    client.close()
    await settled(() => publisher.stateOf('shop/web').connected === 0)
    assert.deepEqual(publisher.stateOf('shop/web'), { connected: 0, acknowledged: false, problems: [] })
  })

  it('that reconnects before the old connection timed out counts once', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.publish('shop/web', irOf(1))
    const first = await connect().hello().received('config')
    await connect().hello().received('config')
    await first.ended()
    assert.deepEqual(first.of('goodbye'), [{ type: 'goodbye', reason: 'data plane reconnected' }])
    assert.equal(publisher.stateOf('shop/web').connected, 1)
  })
})

describe('addresses', () => {
  it('are sent alone when only addresses change, and only the changed ones', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.reach('shop/web', { a: ['10.0.0.1:80'], b: ['10.0.0.2:80'] })
    publisher.publish('shop/web', irOf(1))
    const client = await connect().hello().received('config')
    client.ack()
    await settled(() => publisher.stateOf('shop/web').acknowledged)
    publisher.reach('shop/web', { a: ['10.0.0.1:80'], c: ['[fd00::7]:80'] })
    await client.received('endpoints', 2)
    const [, change] = client.of('endpoints')
    assert.deepEqual(change, { type: 'endpoints', whole: false, put: [['c', ['[fd00::7]:80']]], drop: ['b'] })
    // An unchanged address is not sent.
    publisher.reach('shop/web', { a: ['10.0.0.1:80'], c: ['[fd00::7]:80'] })
    publisher.reach('shop/web', { a: [], c: ['[fd00::7]:80'] })
    await client.received('endpoints', 3)
    assert.deepEqual(client.of('endpoints')[2]?.put, [['a', []]])
    assert.equal(client.of('config').length, 1)
  })

  it('that change repeatedly are batched, and a config in the meantime does not wait', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.reach('shop/web', { a: ['10.0.0.1:80'] })
    publisher.publish('shop/web', irOf(1))
    const client = await connect().hello().received('config')
    client.ack()
    await settled(() => publisher.stateOf('shop/web').acknowledged)
    const changes = 200
    const startedAt = performance.now()
    for (let port = 1; port <= changes; port++) {
      publisher.reach('shop/web', { a: [`10.0.0.1:${port}`] })
      await new Promise(setImmediate)
    }
    await client.until(() => client.endpoints['a']?.[0] === `10.0.0.1:${changes}`)
    const most = 2 + (performance.now() - startedAt) / 50
    const told = client.of('endpoints').length - 1
    assert.ok(told <= most, `${told} messages for ${changes} changes, expected at most ${most}`)
    publisher.reach('shop/web', { a: ['10.0.0.2:80'], b: ['10.0.0.3:80'] })
    publisher.publish('shop/web', irOf(2))
    await client.received('config', 2)
    assert.deepEqual(client.endpoints, { a: ['10.0.0.2:80'], b: ['10.0.0.3:80'] })
  })

  it('that a data plane reports are not sent again', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    const known = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key-${index}`, ['10.0.0.1:80']]))
    publisher.reach('shop/web', known)
    publisher.publish('shop/web', irOf(1))
    const endpoints = endpointHashesOf(Object.entries(known))
    const same = await connect().hello({ endpoints }).received('config')
    assert.deepEqual(same.of('endpoints'), [{ type: 'endpoints', whole: true, parts: [], put: [], drop: [] }])
    const { 'key-7': _, ...rest } = known
    publisher.reach('shop/web', { ...rest, 'key-8': ['10.0.0.2:80'] })
    const other = await connect().hello({ endpoints, instance: 'web-2' }).received('config')
    const [first] = other.of('endpoints')
    assert.deepEqual(
      first?.parts,
      [endpointPart('key-7'), endpointPart('key-8')].toSorted((a, b) => a - b),
    )
    assert.ok((first?.put.length ?? 0) < 30)
    assert.deepEqual(new Map(first?.put).get('key-8'), ['10.0.0.2:80'])
  })

  it('are sent before the config that needs them, and dropped after the config that does not is live', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.reach('shop/web', { old: ['10.0.0.1:80'] })
    publisher.publish('shop/web', irOf(1))
    const client = await connect().hello().received('config')
    client.ack()
    await settled(() => publisher.stateOf('shop/web').acknowledged)
    publisher.publish('shop/web', irOf(2))
    publisher.reach('shop/web', { new: ['10.0.0.2:80'] })
    await client.received('config', 2)
    assert.deepEqual(client.endpoints, { old: ['10.0.0.1:80'], new: ['10.0.0.2:80'] })
    assert.equal(client.messages.at(-1)?.type, 'config')
    client.ack()
    await client.received('endpoints', 3)
    assert.deepEqual(client.endpoints, { new: ['10.0.0.2:80'] })
  })
})

describe('several data planes', () => {
  it('with the same Gateway share the serialized change, those of another get nothing', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.publish('shop/web', irOf(3))
    publisher.reach('shop/web', { secret: ['10.0.0.1:80'] })
    publisher.publish('bank/web', irOf(1, { 0: 'vault.example' }))
    publisher.reach('bank/web', {})
    const shop = ['a', 'b', 'c'].map((instance) => connect({ token: `shop/web/${instance}` }).hello({ instance }))
    const bank = await connect({ token: 'bank/web/x' }).hello({ gateway: 'bank/web' }).received('config')
    for (const client of shop) {
      await client.received('config')
      client.ack()
    }
    await settled(() => publisher.counts.acks === 3)
    assert.equal(publisher.counts.lines, 2)
    publisher.publish('shop/web', irOf(4))
    for (const client of shop) await client.received('config', 2)
    assert.equal(publisher.counts.lines, 3)
    assert.deepEqual(Object.fromEntries(publisher.connected()), { 'shop/web': 3, 'bank/web': 1 })
    for (const client of shop) assert.doesNotMatch(JSON.stringify(client.messages), /vault/)
    assert.doesNotMatch(JSON.stringify(bank.messages), /secret|10\.0\.0\.1|h0\.example/)
    assert.deepEqual(bank.ir, irOf(1, { 0: 'vault.example' }))
  })

  it('count as up to date when one of them is', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.publish('shop/web', irOf(1))
    const [one, other] = ['a', 'b'].map((instance) => connect({ token: `shop/web/${instance}` }).hello({ instance }))
    await one?.received('config')
    await other?.received('config')
    one?.ack()
    other?.send({ type: 'nack', generation: generationOf(irOf(1)), problems: ['no'] })
    await settled(() => publisher.counts.acks + publisher.counts.nacks === 2)
    assert.deepEqual(publisher.stateOf('shop/web'), { connected: 2, acknowledged: true, problems: ['no'] })
    other?.close()
    await settled(() => publisher.stateOf('shop/web').connected === 1)
    assert.deepEqual(publisher.stateOf('shop/web').problems, [])
  })
})

describe('a Gateway', () => {
  it('that is deleted sends goodbye, and may return', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.publish('shop/web', irOf(1))
    const client = await connect().hello().received('config')
    publisher.retire('shop/web')
    await client.ended()
    assert.equal(client.of('goodbye')[0]?.reason, 'the Gateway was deleted, or another controller serves its class')
    assert.deepEqual(publisher.stateOf('shop/web'), { connected: 0, acknowledged: false, problems: [] })
    const again = await connect().hello().received('ping')
    publisher.publish('shop/web', irOf(2))
    await again.received('config')
    assert.deepEqual(again.ir, irOf(2))
  })

  it('with a config that has a duplicate key keeps the previous config, and reports it', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.publish('shop/web', irOf(1))
    const client = await connect().hello().received('config')
    client.ack()
    await settled(() => publisher.stateOf('shop/web').acknowledged)
    const { backends, ...rest } = irOf(2)
    publisher.publish('shop/web', { ...rest, backends: [...backends, ...backends] })
    await settled(() => publisher.stateOf('shop/web').problems.length === 1)
    assert.deepEqual(publisher.stateOf('shop/web').problems, ['the config has backend/b0 twice'])
    publisher.publish('shop/web', irOf(1))
    await settled(() => publisher.stateOf('shop/web').acknowledged)
    assert.equal(client.of('config').length, 1)
  })

  it('without a config is forgotten with its last data plane', async (t) => {
    const { publisher, connect, changed } = await usePublisher(t)
    const client = await connect().hello().received('ping')
    assert.equal(publisher.connected().size, 1)
    client.close()
    await settled(() => publisher.connected().size === 0)
    assert.deepEqual(changed, ['shop/web', 'shop/web'])
  })
})

it('a controller that shuts down sends goodbye to all', async (t) => {
  const { publisher, connect } = await usePublisher(t)
  const client = await connect().hello().received('ping')
  await publisher.close()
  await client.ended()
  assert.equal(client.of('goodbye')[0]?.reason, 'controller is shutting down')
  await assert.rejects(
    connect()
      .hello()
      .until(() => false),
  )
})

async function settled(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5))
}
