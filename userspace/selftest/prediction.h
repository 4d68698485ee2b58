// What frames_saved predicts of a subject's removal, held against its removal.
#ifndef WHYLATE_USERSPACE_SELFTEST_PREDICTION_H_
#define WHYLATE_USERSPACE_SELFTEST_PREDICTION_H_

#include <string>
#include <vector>

namespace whylate {

struct Interval95 {
  double low = 0;
  double high = 0;
};

// Of the mean of what a sample (of two or more) is drawn from: mean +/- t * sd / sqrt(n), Student's t
// with n - 1 degrees of freedom. Not narrower than +/- 1, since what is counted is whole frames.
Interval95 MeanInterval(const std::vector<double>& sample);

// Of pairs of cells, with the subject and without.
struct Prediction {
  std::vector<double> predicted;  // frames_saved, of a pair's first
  std::vector<double> removed;    // frames lost in the first, less those lost in the second

  double MeanPredicted() const;
  Interval95 Removal() const { return MeanInterval(removed); }
  bool Holds() const;
  // "predicted 53.2 frames a run; the removal saved 52.1 to 55.0 (95 %, 5 pairs)".
  std::string ToString() const;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SELFTEST_PREDICTION_H_
