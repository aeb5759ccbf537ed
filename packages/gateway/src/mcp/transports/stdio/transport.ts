import type { Hub, ProcessSpec } from '../../hub.ts'
import type { TargetTransport } from '../../transport.ts'

/**
 * A program on this machine. The main thread has its processes, so every worker reaches them; another replica does not.
 * A session whose process has gone is lost: whoever sends `initialize` again gets a new one, and goes on.
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
