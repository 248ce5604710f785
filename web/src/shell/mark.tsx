/** The logo of blueprintd: three connected nodes. */
export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" fill="none" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" fill="#0b5d66" />
      <path d="M10 10.5v4a3 3 0 0 0 3 3h6a3 3 0 0 1 3 3v1M10 13v9" stroke="#9adbe0" strokeWidth="2.4" />
      <circle cx="10" cy="9" r="3.6" fill="#fff" />
      <circle cx="10" cy="23" r="3.6" fill="#fff" />
      <circle cx="22" cy="23" r="3.6" fill="#ffc66b" />
    </svg>
  )
}
