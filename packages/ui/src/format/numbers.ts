/** Numbers for people: with a unit, and no more digits than help. */

/** `took` is in microseconds. */
export function formatTook(micros: number): string {
  if (micros < 1000) return `${(micros / 1000).toFixed(micros < 100 ? 2 : 1)} ms`
  if (micros < 10_000) return `${(micros / 1000).toFixed(1)} ms`
  if (micros < 1_000_000) return `${Math.round(micros / 1000)} ms`
  if (micros < 60_000_000) return `${(micros / 1_000_000).toFixed(micros < 10_000_000 ? 2 : 1)} s`
  const seconds = Math.round(micros / 1_000_000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes / 1024
  let unit = 0
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`
}

export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en-US')
}

export function formatRate(perSecond: number): string {
  if (perSecond >= 1000) return `${(perSecond / 1000).toFixed(1)}k/s`
  if (perSecond >= 10) return `${Math.round(perSecond)}/s`
  return perSecond === 0 ? '0/s' : `${perSecond.toFixed(perSecond < 0.1 ? 2 : 1)}/s`
}

export function formatShare(share: number): string {
  const percent = share * 100
  return `${percent === 0 || percent >= 10 ? Math.round(percent) : percent.toFixed(1)} %`
}
