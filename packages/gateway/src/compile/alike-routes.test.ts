import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { IrIndex } from '../ir/affected.ts'
import { PoliciesByTarget } from '../ir/policies-by-target.ts'
import type { Backend, Ir } from '../ir/resources.ts'
import { SharingMap } from '../collections/sharing-map.ts'
import { loadConfig } from '../sources/file.ts'
import { createTable, SharedTable } from '../state/shared-table.ts'
import { Reservations } from '../state/reservations.ts'
import { AlikeRoutes, WatchedRoom } from './alike-routes.ts'
import { checkCompile } from './check.ts'
import '../testing/all-features.ts'

const TWICE = ['a:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=', 'a:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=']

/** Routes of several forms; some cannot run, and some need their own room in shared memory. */
const FORMS = [
  { backends: [{ host: '127.0.0.1:1' }] },
  { backends: [{ host: '127.0.0.1:2' }] },
  { backends: [{ host: '127.0.0.1:1', weight: 2 }, { host: '127.0.0.1:1' }] },
  { backends: [{ host: '127.0.0.1:1', policies: { http: { version: 'HTTP1' } } }] },
  { backends: [{ backend: 'known' }] },
  { backends: [{ backend: 'known' }], policies: { directResponse: { status: 200 } } },
  { backends: [{ host: '127.0.0.1:1' }], policies: { basicAuthentication: { users: TWICE } } },
  { backends: [{ host: 'unix:/run/app.sock', policies: { tunnel: { backendRef: { name: 'known' } } } }] },
  {
    backends: [{ host: '127.0.0.1:1' }],
    policies: { rateLimit: { local: [{ requests: 1, unit: 'Seconds' }] } },
  },
  {
    backends: [{ host: '127.0.0.1:1' }],
    policies: { rateLimit: { local: [{ requests: 1, unit: 'Seconds', key: 'request.path' }] } },
  },
]

function loadRoutes(forms: readonly object[]) {
  const routes = forms.map((form, index) => ({
    name: `r${index}`,
    matches: [{ path: { pathPrefix: `/${index}` } }],
    ...form,
  }))
  const backends = [{ name: 'known', static: { host: '127.0.0.1', port: 9 } }]
  const text = JSON.stringify({ backends, binds: [{ port: 0, listeners: [{ routes }] }] })
  const loaded = loadConfig(text, { file: 'gateway.yaml', dir: '.', env: {} })
  assert.ok(loaded.ok, JSON.stringify(loaded))
  return loaded
}

function indexOf(ir: Ir): IrIndex {
  const backendsByKey = SharingMap.of(ir.backends.map((backend): [string, Backend] => [backend.key, backend]))
  return { byTarget: PoliciesByTarget.of(ir.policies), backendsByKey }
}

/** A fake of the shared tables that records the requested keys. */
function recordingRoom() {
  const room = new Reservations(new SharedTable(createTable()))
  const asked = new Set<string>()
  return {
    asked,
    cells(key: string) {
      asked.add(key)
      return room.cells(key)
    },
    keyed(name: string, size: number) {
      asked.add(`${name} ${size}`)
      return room.keyed(name, size)
    },
    keyTable: () => null,
  }
}

test('routes alike or not, the same faults are found and the same room is taken as one by one', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...FORMS), { minLength: 1, maxLength: 8 }), (forms) => {
      const { ir, explain } = loadRoutes(forms)
      const together = recordingRoom()
      const faults = checkCompile(ir, together).map(explain)
      const alone = recordingRoom()
      const each = ir.routes.flatMap((route) => checkCompile({ ...ir, routes: [route] }, alone).map(explain))
      assert.deepEqual(faults.toSorted(), [...new Set(each)].toSorted())
      assert.deepEqual([...together.asked].toSorted(), [...alone.asked].toSorted())
    }),
    { seed: 11, numRuns: 100 },
  )
})

test('routes that are alike are compiled once, routes that need room each', () => {
  const countMade = (forms: readonly object[], needsRoom = false): number => {
    const { ir } = loadRoutes(forms)
    const room = new WatchedRoom(recordingRoom())
    let made = 0
    const alike = new AlikeRoutes(indexOf(ir), room)
    for (const route of ir.routes)
      alike.check(route, () => {
        made++
        if (needsRoom) room.cells(route.key)
        return true
      })
    return made
  }
  const [plain, other] = FORMS
  assert.ok(plain && other)
  assert.equal(countMade([plain, plain, other, plain, other]), 2)
  assert.equal(countMade([plain, plain, plain], true), 3)
  const model = { backends: [{ ai: { provider: { openai: {} } } }] }
  assert.equal(countMade([model, model]), 2)
})
