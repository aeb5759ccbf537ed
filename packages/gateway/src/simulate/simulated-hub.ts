import { HubClient } from '../mcp/hub/hub-client.ts'
import { MainHub } from '../mcp/hub/main-hub.ts'
import type { Hub, ProcessLink } from '../mcp/hub.ts'
import type { LinkCall, TargetFailure } from '../mcp/transport.ts'
import type { Logger } from '../telemetry/log/logger.ts'

interface HubOptions {
  log: Logger
  clock: () => number
  /** Called with the command that a real gateway would have started. */
  started: (command: string) => void
}

/** A hub whose main thread is this thread. It starts no programs: their answers are unknown. */
export function createSimulatedHub({ log, clock, started }: HubOptions): Hub {
  const main = new MainHub({ log, clock })
  const client = new HubClient({ post: (message) => queueMicrotask(() => main.received(0, message)), clock })
  main.born(0, (message) => queueMicrotask(() => client.take(message)))
  return {
    isRevoked: (session) => client.isRevoked(session),
    revoke: (session, expiresAt) => client.revoke(session, expiresAt),
    targetSession: (session, target) => client.targetSession(session, target),
    setTargetSession: (...mark) => client.setTargetSession(...mark),
    listen: (address, take) => client.listen(address, take),
    send: (address, text) => client.send(address, text),
    announce: (backend) => client.announce(backend),
    whenChanged: (backend, told) => client.whenChanged(backend, told),
    process: ({ cmd, args }) => unstartedProcess(() => started([cmd, ...args].join(' '))),
  }
}

function unstartedProcess(told: () => void): ProcessLink {
  const fail = (failed: (failure: TargetFailure) => void): LinkCall => {
    told()
    queueMicrotask(() => failed({ code: 'unavailable', message: 'a simulation starts no programs' }))
    return { cancel() {}, resume() {} }
  }
  return {
    request: (_message, answer) => fail((failure) => answer.failed(failure)),
    tell: (_message, done) => fail(done),
    listen: (answer) => fail((failure) => answer.failed(failure)),
    end() {},
  }
}
