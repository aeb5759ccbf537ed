import type { Hub, ProcessSpec } from '../../hub.ts'
import type { TargetTransport } from '../../transport.ts'

/**
 * Creates the transport of a local program. Its processes belong to the main thread, so every worker of this gateway can
 * use them, but other replicas cannot. A session whose process has ended is lost until `initialize` starts a new process.
 */
export function stdioTransport(spec: ProcessSpec, hub: Hub): TargetTransport {
  return {
    isPortable: false,
    isOneCaller: true,
    listensSilently: true,
    link({ key }) {
      const process = hub.process(spec, key)
      return {
        session: '',
        request: (message, _caller, answer) => process.request(message, answer),
        tell: (message, _caller, done) => process.tell(message, done),
        listen: (_lastEventId, _caller, answer) => process.listen(answer),
        end: () => process.end(),
      }
    },
  }
}
