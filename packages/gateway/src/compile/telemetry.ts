import type { ConnectionInfo } from '../net/exchange.ts'
import { connectionScope, malformedScope, requestScope } from '../pipeline/views/log-scope.ts'
import type { RequestContext } from '../pipeline/request-context.ts'
import type { RawRun } from '../pipeline/run-raw.ts'
import type { ScopeServices } from '../pipeline/views/scope.ts'
import { accessLogEdit } from '../policies/frontend/access-log/edit.ts'
import type { FrontendPolicies } from '../policies/index.ts'
import { type AccessLog } from '../telemetry/log/access-log.ts'
import { type AccessRecord, refusedRecord } from '../telemetry/log/access-record.ts'

export interface TelemetryServices extends ScopeServices {
  accessLog: AccessLog
}

/** Logs and counts what is over. */
export interface Telemetry {
  request: (rx: RequestContext) => void
  connection: (run: RawRun) => void
  malformed: (info: ConnectionInfo, status: number, code: string) => void
}

export function compileTelemetry(frontend: FrontendPolicies, services: TelemetryServices): Telemetry {
  const { accessLog } = services
  const edit = accessLogEdit(frontend.accessLog)
  // Without expressions there is nobody to read variables.
  const isRead = edit !== null || frontend.metrics !== undefined

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
