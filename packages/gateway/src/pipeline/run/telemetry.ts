import type { ConnectionInfo } from '@portico/http'
import { connectionScope, malformedScope, requestScope } from './log-scope.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { RawRun } from './run-raw.ts'
import type { ScopeServices } from '../views/scope.ts'
import type { AccessLog } from '../../telemetry/log/access-log.ts'
import { type AccessRecord, refusedRecord } from '../../telemetry/log/access-record.ts'
import type { LineChanges } from '../../telemetry/log/edited-line.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { Origin } from '../../telemetry/otlp/envelope.ts'
import type { Exporter } from '../../telemetry/otlp/exporter.ts'
import type { ExportLimits } from '../../telemetry/otlp/export-limits.ts'
import type { ExportCounts, Signal } from '../../telemetry/otlp/retrying-sender.ts'
import type { Recorder } from '../../telemetry/recorder/recorder.ts'

export interface TelemetryServices extends ScopeServices {
  accessLog: AccessLog
  recorder: Pick<Recorder, 'request' | 'connection' | 'malformed' | 'refused'>
}

/** The services that exports of telemetry need. */
export interface ExportServices {
  exports: {
    /** Read when there is something to send. */
    origin: () => Origin
    counts: (signal: Signal) => ExportCounts
    limits: ExportLimits
    log: Logger
    busy: Set<Exporter>
  }
}

/** Exports one access record to a collector. */
export type ExportLog = (record: AccessRecord, changes: LineChanges | null) => void

/** Logs, records and counts requests and connections at their end. */
export interface Telemetry {
  request: (rx: RequestContext) => void
  connection: (run: RawRun) => void
  malformed: (info: ConnectionInfo, status: number, code: string) => void
  /** Records a connection that was closed before a request; there is no access log line for it. */
  refused: Recorder['refused']
}

/** The settings of telemetry in the config. */
export interface TelemetryParts {
  /** Returns the changes to the access log line for the variables in `scope`; null when lines are not changed. */
  edit: ((scope: object) => LineChanges | null) | null
  /** Null when access records are not exported. */
  exportLog: ExportLog | null
  /** Whether any expression reads the variables, which are made only then. */
  isRead: boolean
}

export function createTelemetry({ edit, exportLog, isRead }: TelemetryParts, services: TelemetryServices): Telemetry {
  const { accessLog, recorder } = services

  function log(record: AccessRecord, scope: object | null): void {
    if (edit === null || scope === null) {
      accessLog(record)
      exportLog?.(record, null)
    } else if (exportLog === null) accessLog(record, () => edit(scope))
    else {
      const changes = edit(scope)
      accessLog(record, () => changes)
      if (changes !== null) exportLog(record, changes)
    }
  }

  return {
    request(rx) {
      const scope = isRead ? requestScope(rx, services) : null
      log(rx, scope)
      recorder.request(rx, scope)
      if (rx.spans !== null) rx.spans.finish()
      if (rx.route !== null) rx.route.count(rx, scope)
      else rx.listener?.countUnrouted(rx, scope)
    },
    connection(run) {
      const scope = isRead ? connectionScope(run, services) : null
      log(run, scope)
      recorder.connection(run)
      run.route?.count(run, scope)
    },
    malformed(info, status, code) {
      const scope = edit === null ? null : malformedScope({ info, status }, services)
      log(refusedRecord(info, status, code), scope)
      recorder.malformed(info, status, code)
    },
    refused: (source, refusal) => recorder.refused(source, refusal),
  }
}
