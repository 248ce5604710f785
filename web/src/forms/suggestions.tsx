import type { Suggestion } from './completion'
import classes from './text-box.module.css'
import { suggestionsText } from '../text/forms'

type Props = {
  id: string
  suggestions: Suggestion[]
  active: number
  onActive: (index: number) => void
  onTake: (suggestion: Suggestion) => void
}

/** The suggestions below a text. The focus stays in the text. */
export function Suggestions({ id, suggestions, active, onActive, onTake }: Props) {
  return (
    <>
      <div
        id={id}
        role="listbox"
        aria-label={suggestionsText.suggestions}
        className={classes.list}
        tabIndex={0}
        onMouseDown={(event) => event.preventDefault()} // the text keeps the focus
      >
        {suggestions.map((one, index) => (
          <div
            key={`${one.kind} ${one.label}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            className={classes.option}
            onPointerMove={() => {
              if (index !== active) onActive(index)
            }}
            onClick={() => onTake(one)}
          >
            <span className={classes.line}>
              <span className={classes.name}>{one.label}</span>
              <span className={classes.type}>{one.type}</span>
            </span>
            {(one.sample || one.note) && (
              <span className={classes.sample}>{[one.note, one.sample].filter(Boolean).join(' · ')}</span>
            )}
          </div>
        ))}
      </div>
      <div className={classes.foot} aria-hidden>
        {suggestionsText.selectEnterInsertEscClose}
      </div>
    </>
  )
}
