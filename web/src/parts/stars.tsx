import { Group, Rating, Text } from '@mantine/core'
import { IconStar, IconStarFilled } from '@tabler/icons-react'
import { starsText } from '../text/parts'

type Props = {
  /** 0 to 5. */
  value: number
  /** The number of ratings, shown beside the stars. */
  count?: number
  /** Makes it an input; 0 removes the rating (a click on the current one). */
  onRate?: (value: number) => void
  /** A label for screen readers: `Your rating`. */
  label?: string
}

/** A rating in stars, read-only or as an input. */
export function Stars({ value, count, onRate, label = starsText.rating }: Props) {
  const words = count === 0 ? starsText.noRatingsYet : starsText.of5Stars(Number(value.toFixed(1)), count)
  if (!onRate) {
    return (
      <Group gap={6} wrap="nowrap" title={words}>
        <span role="img" aria-label={`${label}: ${words}`}>
          <Rating value={value} fractions={2} readOnly size="sm" color="amber" aria-hidden />
        </span>
        {count !== undefined && (
          <Text size="xs" c="dimmed" aria-hidden>
            {count}
          </Text>
        )}
      </Group>
    )
  }
  return (
    <Group gap={6} wrap="nowrap" role="group" aria-label={label}>
      <Rating
        value={value}
        onChange={(next) => onRate(next === value ? 0 : next)}
        emptySymbol={<IconStar size={26} color="var(--app-control-line)" aria-hidden />}
        fullSymbol={<IconStarFilled size={26} color="var(--mantine-color-amber-filled)" aria-hidden />}
        getSymbolLabel={(star) => (star === 0 ? starsText.noRating : starsText.of5Stars2(star))}
      />
    </Group>
  )
}
