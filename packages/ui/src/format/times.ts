/** `at` and `now` are milliseconds since 1970. */
export function formatAgo(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000))
  if (seconds < 2) return 'now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}

/** The time left until `until`, such as `41 s left`. */
export function formatLeft(until: number, now: number): string {
  const seconds = Math.max(0, Math.ceil((until - now) / 1000))
  if (seconds < 120) return `${seconds} s left`
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min left`
  return `${Math.floor(seconds / 3600)} h left`
}

/** The local time of day. */
export function formatClock(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB', { hour12: false })
}

export function formatMoment(at: number): string {
  const date = new Date(at)
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${formatClock(at)}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
