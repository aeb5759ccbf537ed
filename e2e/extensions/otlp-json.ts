/** OTLP as the collector writes it to a file: the JSON form of the messages. */

export type OtlpValue = string | number | boolean | null | OtlpValue[] | { [key: string]: OtlpValue }

interface AnyValue {
  stringValue?: string
  intValue?: string
  doubleValue?: number
  boolValue?: boolean
  arrayValue?: { values?: AnyValue[] }
  kvlistValue?: { values?: KeyValue[] }
}

export interface KeyValue {
  key: string
  value: AnyValue
}

export interface LogRequest {
  resourceLogs: { scopeLogs: { logRecords: { attributes: KeyValue[] }[] }[] }[]
}

export function attributesOf(attributes: readonly KeyValue[]): Record<string, OtlpValue> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]))
}

function valueOf(value: AnyValue): OtlpValue {
  const { stringValue, intValue, doubleValue, boolValue, arrayValue, kvlistValue } = value
  if (intValue !== undefined) return Number(intValue)
  if (arrayValue !== undefined) return (arrayValue.values ?? []).map(valueOf)
  if (kvlistValue !== undefined) return attributesOf(kvlistValue.values ?? [])
  return stringValue ?? doubleValue ?? boolValue ?? null
}
