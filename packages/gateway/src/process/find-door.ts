import { isIP } from 'node:net'
import { type Door, reachable } from '../admin/send/door.ts'
import type { Ir } from '../ir/resources.ts'

/** Where a listener is reached from here, on a port that workers have; a text says why it is not. */
export function findDoor(
  { binds, listeners }: Ir,
  ports: Readonly<Record<string, number>>,
  bindKey: string,
  listenerKey: string,
): Door | string {
  const bind = binds.find(({ key }) => key === bindKey)
  if (bind === undefined) return `there is no bind ${JSON.stringify(bindKey)}: GET /api/routes lists them`
  const listener = listeners.find(({ key }) => key === listenerKey)
  if (listener?.bind !== bindKey)
    return `bind ${JSON.stringify(bindKey)} has no listener ${JSON.stringify(listenerKey)}: GET /api/routes lists them`
  const { protocol, hostname } = listener
  if (protocol !== 'HTTP' && protocol !== 'HTTPS')
    return `listener ${listenerKey} takes connections of ${protocol}, not requests`
  const port = Object.hasOwn(ports, bindKey) ? ports[bindKey] : undefined
  const address = reachable(bind.address)
  // Names would be for others to resolve.
  if (port === undefined || isIP(address) === 0) return `this process does not listen for bind ${bindKey}`
  return { address, port, isTls: protocol === 'HTTPS', hostname }
}
