import type { ConnectionInfo } from '../net/exchange.ts'
import { connectionScope, malformedScope, requestScope } from './views/log-scope.ts'
import type { RequestContext } from './request-context.ts'
import type { RawRun } from './run-raw.ts'
import type { ScopeServices } from './views/scope.ts'
import type { AccessLog } from '../telemetry/log/access-log.ts'
import { type AccessRecord, refusedRecord } from '../telemetry/log/access-record.ts'
import type { LineChanges } from '../telemetry/log/edited-line.ts'

export interface TelemetryServices extends ScopeServices {
  accessLog: AccessLog
}

/** Logs and counts what is over. */
export interface Telemetry {
  request: (rx: RequestContext) => void
  connection: (run: RawRun) => void
  malformed: (info: ConnectionInfo, status: number, code: string) => void
}

/** What the config has to say about it. */
export interface TelemetryParts {
  /** What becomes of the line for something over this scope; null where lines stay as they are. */
  edit: ((scope: object) => LineChanges | null) | null
  /** Whether any expression reads the variables; without one there are none to make. */
  isRead: boolean
}

export function createTelemetry({ edit, isRead }: TelemetryParts, services: TelemetryServices): Telemetry {
  const { accessLog } = services

  function log(record: AccessRecord, scope: object | null): void {
    if (edit === null || scope === null) accessLog(record)
    else accessLog(record, () => edit(scope))
  }

  return {
    request(rx) {
      const scope = isRead ? requestScope(rx, services) : null
      log(rx, scope)
      if (rx.route !== null) rx.route.count(rx, scope)
      else rx.listener?.countUnrouted(rx, scope)
    },
    connection(run) {
      const scope = isRead ? connectionScope(run, services) : null
      log(run, scope)
      run.route?.count(run, scope)
    },
    malformed(info, status, code) {
      log(refusedRecord(info, status, code), edit === null ? null : malformedScope({ info, status }, services))
    },
  }
}
