import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Ir } from '@portico/gateway/ir'
import { endpointHashesOf, generationOf, hashesOf } from '@portico/gateway/stream'
import { irOf, type PublisherScene, usePublisher } from '../testing/publisher-scene.ts'
import type { StreamClient } from '../testing/stream-client.ts'

type Step =
  | { do: 'publish'; ir: Ir }
  | { do: 'reach'; endpoints: Record<string, string[]> }
  | { do: 'ack' | 'nack' | 'cut'; who: number }
  | { do: 'wait' }

const all = irOf(8).backends
const ir = fc.array(fc.tuple(fc.constantFrom(...all), fc.nat(2)), { maxLength: 8 }).map((picked): Ir => {
  const unique = new Map(picked.map(([backend, port]) => [backend.key, { ...backend, name: `n${port}` }]))
  return { ...irOf(0), backends: [...unique.values()] }
})
const addresses = fc.array(fc.constantFrom('10.0.0.1:80', '10.0.0.2:80', '[fd00::1]:80'), { maxLength: 2 })
const endpoints = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'), addresses)
const who = fc.nat(1)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: ir.map((made): Step => ({ do: 'publish', ir: made })) },
  { weight: 3, arbitrary: endpoints.map((made): Step => ({ do: 'reach', endpoints: { ...made } })) },
  { weight: 4, arbitrary: who.map((index): Step => ({ do: 'ack', who: index })) },
  { weight: 1, arbitrary: who.map((index): Step => ({ do: 'nack', who: index })) },
  { weight: 1, arbitrary: who.map((index): Step => ({ do: 'cut', who: index })) },
  { weight: 3, arbitrary: fc.constant<Step>({ do: 'wait' }) },
)

test('after any sequence of events, every data plane has the newest config', async (t) => {
  let round = 0
  const scene = await usePublisher(t)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), ir, endpoints, async (steps, last, lastEndpoints) => {
      const gateway = `shop/g${round++}`
      const clients = [joined(scene, gateway, 0), joined(scene, gateway, 1)]
      for (const each of steps) await take(scene, gateway, clients, each)
      scene.publisher.reach(gateway, { ...lastEndpoints })
      scene.publisher.publish(gateway, last)
      for (const client of clients) await converge(client, last, lastEndpoints)
      await until(() => {
        const { connected, acknowledged, problems } = scene.publisher.stateOf(gateway)
        return connected === 2 && acknowledged && problems.length === 0
      })
      for (const client of clients) client.close()
      scene.publisher.retire(gateway)
    }),
    { numRuns: 100 },
  )
})

async function take(scene: PublisherScene, gateway: string, clients: StreamClient[], each: Step): Promise<void> {
  if (each.do === 'publish') return scene.publisher.publish(gateway, each.ir)
  if (each.do === 'reach') return scene.publisher.reach(gateway, each.endpoints)
  if (each.do === 'wait') return new Promise((resolve) => setTimeout(resolve, 2))
  const client = clients[each.who] ?? assert.fail()
  const generation = generationOf(client.ir)
  if (each.do === 'ack') client.ack()
  else if (each.do === 'nack') client.send({ type: 'nack', generation, problems: ['no'] })
  else {
    client.close()
    clients[each.who] = joined(scene, gateway, each.who, client)
  }
}

/** Connects a new data plane, or one with the state of another. */
function joined({ connect }: PublisherScene, gateway: string, index: number, before?: StreamClient): StreamClient {
  const [, account] = gateway.split('/')
  const client = connect({ token: `shop/${account}/pod${index}` })
  if (before !== undefined) {
    client.ir = before.ir
    client.endpoints = before.endpoints
  }
  const known = before === undefined ? null : endpointHashesOf(Object.entries(before.endpoints))
  const have = { generation: generationOf(client.ir), hashes: hashesOf(client.ir) }
  return client.hello({ gateway, instance: `pod${index}`, have: before === undefined ? null : have, endpoints: known })
}

/** Acknowledges every config, as a data plane does, until the wanted one arrives. */
async function converge(client: StreamClient, wanted: Ir, addressesByKey: Record<string, string[]>): Promise<void> {
  let answered = -1
  await client.until(() => {
    const configs = client.of('config')
    if (configs.length > 0 && configs.length !== answered) {
      answered = configs.length
      assert.equal(configs.at(-1)?.generation, generationOf(client.ir))
      client.ack()
    }
    const isNewest = configs.length > 0 && generationOf(client.ir) === generationOf(wanted)
    return isNewest && sorted(client.endpoints) === sorted(addressesByKey)
  })
  assert.deepEqual(client.ir, wanted)
}

function sorted(addressesByKey: Readonly<Record<string, readonly string[]>>): string {
  return JSON.stringify(Object.entries(addressesByKey).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 2))
}
