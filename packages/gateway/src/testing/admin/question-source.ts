import type { QuestionSource } from '../../admin/questions-api.ts'
import type { Ir } from '../../ir/resources.ts'
import { createQuestionSource } from '../../process/admin/question-source.ts'
import type { RequestRecord } from '../../telemetry/recorder/record.ts'

/** The source of the admin API for questions about expressions and routes, without a gateway process. */
export function questionsOf(
  ir: Ir = NOTHING,
  record: (id: string) => RequestRecord | null = () => null,
): QuestionSource {
  const identity = { podName: 'test', namespace: 'default', gateway: 'default' }
  return createQuestionSource({ live: () => ({ ir, generation: 1, ports: {} }), record, identity })
}

const NOTHING: Ir = { binds: [], listeners: [], routes: [], backends: [], policies: [] }
