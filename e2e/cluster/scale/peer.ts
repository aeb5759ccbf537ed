import { findEnvoyGateway, envoyGateway } from './envoy-gateway.ts'
import type { Row } from './numbers.ts'
import { changes, controllerMemory } from './parts.ts'
import { Scene } from './scene.ts'

/** Another controller on as many routes, with its own data plane, in a bed of its own: what changes take, and its memory. */
export async function peer(routes: number, count: number): Promise<Row[]> {
  const found = findEnvoyGateway()
  if (typeof found === 'string') {
    console.log(`peer: skipped, ${found}`)
    return [{ what: 'another controller', measured: `skipped: ${found}`, bar: '', isMet: null }]
  }
  const scene = await Scene.start(envoyGateway(found))
  try {
    await scene.create(0, routes)
    await scene.settled(routes)
    const rows = [...(await controllerMemory(scene)), ...(await changes(scene, routes, count))]
    const name = `Envoy Gateway ${found.version} with Envoy ${found.envoy.version}`
    // The bars are ours.
    return rows.map((row) => ({ ...row, what: `${name}: ${row.what}`, bar: '', isMet: null }))
  } finally {
    await scene.bed.stop()
  }
}
