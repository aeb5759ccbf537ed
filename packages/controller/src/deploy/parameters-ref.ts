import { gwParametersSpec, readSpec, type Resource } from '@portico/translate'
import { textAt, valueAt } from '@portico/translate/json'
import type { Level, Parameters } from './parameters.ts'
import { printProblem } from './print-problem.ts'

type Levels = { ok: true; levels: Level[] } | { ok: false; problems: string[] }

interface Sources {
  gatewayClass: Resource | undefined
  gateway: Resource
  /** GwParameters by `namespace/name`. */
  find: (key: string) => Resource | undefined
}

const GROUP = 'portico.dev'
const KIND = 'GwParameters'

/** Returns the parameters of a Gateway, those of its class first, or all problems with them. */
export function findLevels({ gatewayClass, gateway, find }: Sources): Levels {
  const problems: string[] = []
  const level = (ref: unknown, owner: string, namespace: string | undefined): Level[] => {
    if (ref === undefined) return []
    const [group, kind, name] = [textAt(ref, 'group') ?? '', textAt(ref, 'kind') ?? '', textAt(ref, 'name') ?? '']
    const say = (text: string): [] => {
      problems.push(`${owner}: parametersRef: ${text}`)
      return []
    }
    if (group !== GROUP || kind !== KIND) return say(`found ${group}/${kind}, expected ${GROUP}/${KIND}`)
    if (namespace === undefined) return say('has no namespace')
    const from = `${namespace}/${name}`
    const found = find(from)
    if (found === undefined) return say(`there is no ${KIND} ${from}`)
    const spec = readSpec(gwParametersSpec, found)
    // Parameters contain no references, so the parsed spec is complete.
    if (spec.ok) return [{ from, spec: spec.value as Parameters }]
    problems.push(...spec.problems.map((problem) => `${KIND} ${from}: ${printProblem(problem)}`))
    return []
  }
  const ofClass = valueAt(gatewayClass?.spec, 'parametersRef')
  const ofGateway = valueAt(gateway.spec, 'infrastructure', 'parametersRef')
  const levels = [
    ...level(ofClass, `GatewayClass ${gatewayClass?.metadata.name ?? ''}`, textAt(ofClass, 'namespace')),
    ...level(ofGateway, `Gateway ${gateway.metadata.name}`, gateway.metadata.namespace),
  ]
  return problems.length > 0 ? { ok: false, problems } : { ok: true, levels }
}
