import { Template } from '../core/config-yaml.ts'
import { type HttpPort, variableOfHost } from '../http/model.ts'

/** Returns the names of the environment variables in hosts and backends. */
export function variablesOf(ports: readonly HttpPort[]): Set<string> {
  const found = new Set<string>()
  const visit = (value: unknown): void => {
    if (value instanceof Template) for (const [, name = ''] of value.text.matchAll(/\$\{(\w+)\}/g)) found.add(name)
    else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) visit(each)
  }
  for (const { rules } of ports) {
    for (const { hosts, backends, policies } of rules) {
      for (const host of hosts) {
        const name = variableOfHost(host)
        if (name !== null) found.add(name)
      }
      visit([backends, policies])
    }
  }
  return found
}
