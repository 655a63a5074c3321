// SPDX-License-Identifier: BSD-2-Clause
// OpenCL C's vectors and their functions as C++17, for CUDA programs (cuda/prelude.cuh). Tests compile this text for
// the host and run it there.
//
// Vectors have 2, 4, 8 or 16 numbers. Vectors of 2 and 4 have components s0 to s3 and x to w; longer vectors have lo
// and hi. A comparison gives a vector of integers of the same width; true is -1. C++ has no `condition ? a : b` for
// vectors; use select(b, a, condition). plugin/cuda/translate.cpp rewrites vector literals (type)(a, b).
//
// The caller defines OPENCL_SIZE_T.
#ifndef OCLSPKT_CUDA_VECTORS_CUH
#define OCLSPKT_CUDA_VECTORS_CUH

namespace opencl {

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef OPENCL_SIZE_T size_t;

template <int bytes, bool is_signed>
struct IntegerOf;
template <>
struct IntegerOf<1, true> {
  typedef signed char type;
};
template <>
struct IntegerOf<2, true> {
  typedef short type;
};
template <>
struct IntegerOf<4, true> {
  typedef int type;
};
template <>
struct IntegerOf<8, true> {
  typedef long type;
};

template <bool condition>
struct EnableIf {};
template <>
struct EnableIf<true> {
  typedef int type;
};

template <typename A>
struct IsNumber {
  static constexpr bool value = false;
};
#define OPENCL_NUMBER(type)             \
  template <>                           \
  struct IsNumber<type> {               \
    static constexpr bool value = true; \
  };
OPENCL_NUMBER(bool)
OPENCL_NUMBER(char)
OPENCL_NUMBER(signed char)
OPENCL_NUMBER(uchar)
OPENCL_NUMBER(short)
OPENCL_NUMBER(ushort)
OPENCL_NUMBER(int)
OPENCL_NUMBER(uint)
OPENCL_NUMBER(long)
OPENCL_NUMBER(ulong)
OPENCL_NUMBER(long long)
OPENCL_NUMBER(unsigned long long)
OPENCL_NUMBER(float)
OPENCL_NUMBER(double)
#undef OPENCL_NUMBER

template <typename M>
inline M mask_of(bool holds) {
  return holds ? static_cast<M>(-1) : static_cast<M>(0);
}

template <typename T, int N>
struct Vector;

template <typename To, typename From>
inline To as_type(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "as_type() keeps the size");
  To to;
  ::memcpy(&to, &from, sizeof(To));
  return to;
}

// Members of all vectors. UNARY(op) and BINARY(op) apply op to each component; COMPARED(op) makes a mask.
#define OPENCL_VECTOR_OPERATORS(N, UNARY, BINARY, COMPARED)                   \
  typedef typename IntegerOf<sizeof(T), true>::type mask_number;              \
  typedef Vector<mask_number, N> mask;                                        \
  typedef Vector self; /* parameters of this type: not deduced */             \
  Vector() = default;                                                         \
  friend inline Vector operator+(Vector a) { return a; }                      \
  friend inline Vector operator-(Vector a) { return UNARY(-); }               \
  friend inline Vector operator~(Vector a) { return UNARY(~); }               \
  friend inline Vector operator+(Vector a, Vector b) { return BINARY(+); }    \
  friend inline Vector operator-(Vector a, Vector b) { return BINARY(-); }    \
  friend inline Vector operator*(Vector a, Vector b) { return BINARY(*); }    \
  friend inline Vector operator/(Vector a, Vector b) { return BINARY(/); }    \
  friend inline Vector operator%(Vector a, Vector b) { return BINARY(%); }    \
  friend inline Vector operator&(Vector a, Vector b) { return BINARY(&); }    \
  friend inline Vector operator|(Vector a, Vector b) { return BINARY(|); }    \
  friend inline Vector operator^(Vector a, Vector b) { return BINARY(^); }    \
  friend inline Vector operator<<(Vector a, Vector b) { return BINARY(<<); }  \
  friend inline Vector operator>>(Vector a, Vector b) { return BINARY(>>); }  \
  friend inline mask operator==(Vector a, Vector b) { return COMPARED(==); }  \
  friend inline mask operator!=(Vector a, Vector b) { return COMPARED(!=); }  \
  friend inline mask operator<(Vector a, Vector b) { return COMPARED(<); }    \
  friend inline mask operator<=(Vector a, Vector b) { return COMPARED(<=); }  \
  friend inline mask operator>(Vector a, Vector b) { return COMPARED(>); }    \
  friend inline mask operator>=(Vector a, Vector b) { return COMPARED(>=); }  \
  friend inline Vector& operator+=(Vector& a, Vector b) { return a = a + b; } \
  friend inline Vector& operator-=(Vector& a, Vector b) { return a = a - b; } \
  friend inline Vector& operator*=(Vector& a, Vector b) { return a = a * b; } \
  friend inline Vector& operator/=(Vector& a, Vector b) { return a = a / b; } \
  friend inline Vector& operator&=(Vector& a, Vector b) { return a = a & b; } \
  friend inline Vector& operator|=(Vector& a, Vector b) { return a = a | b; } \
  friend inline Vector& operator^=(Vector& a, Vector b) { return a = a ^ b; }

template <typename T>
struct alignas(2 * sizeof(T)) Vector<T, 2> {
  union {
    T s0, x, lo;
  };
  union {
    T s1, y, hi;
  };

#define OPENCL_UNARY(op) Vector(op a.s0, op a.s1)
#define OPENCL_BINARY(op) Vector(a.s0 op b.s0, a.s1 op b.s1)
#define OPENCL_COMPARED(op) mask(mask_of<mask_number>(a.s0 op b.s0), mask_of<mask_number>(a.s1 op b.s1))
  OPENCL_VECTOR_OPERATORS(2, OPENCL_UNARY, OPENCL_BINARY, OPENCL_COMPARED)
#undef OPENCL_UNARY
#undef OPENCL_BINARY
#undef OPENCL_COMPARED
  template <typename A, typename EnableIf<IsNumber<A>::value>::type = 0>
  Vector(A a) : s0(static_cast<T>(a)), s1(static_cast<T>(a)) {}
  Vector(T a, T b) : s0(a), s1(b) {}
};

template <typename T>
struct alignas(4 * sizeof(T)) Vector<T, 4> {
  union {
    T s0, x;
  };
  union {
    T s1, y;
  };
  union {
    T s2, z;
  };
  union {
    T s3, w;
  };

#define OPENCL_UNARY(op) Vector(op a.s0, op a.s1, op a.s2, op a.s3)
#define OPENCL_BINARY(op) Vector(a.s0 op b.s0, a.s1 op b.s1, a.s2 op b.s2, a.s3 op b.s3)
#define OPENCL_COMPARED(op)                                                                                        \
  mask(mask_of<mask_number>(a.s0 op b.s0), mask_of<mask_number>(a.s1 op b.s1), mask_of<mask_number>(a.s2 op b.s2), \
       mask_of<mask_number>(a.s3 op b.s3))
  OPENCL_VECTOR_OPERATORS(4, OPENCL_UNARY, OPENCL_BINARY, OPENCL_COMPARED)
#undef OPENCL_UNARY
#undef OPENCL_BINARY
#undef OPENCL_COMPARED
  template <typename A, typename EnableIf<IsNumber<A>::value>::type = 0>
  Vector(A a) : s0(static_cast<T>(a)), s1(static_cast<T>(a)), s2(static_cast<T>(a)), s3(static_cast<T>(a)) {}
  Vector(T a, T b, T c, T d) : s0(a), s1(b), s2(c), s3(d) {}
};

// Vectors of 8 and 16 numbers consist of two halves.
template <typename T, int N>
struct alignas(N * sizeof(T)) Vector {
  static_assert(N == 8 || N == 16, "vectors have 2, 4, 8 or 16 numbers");
  typedef Vector<T, N / 2> half_vector;
  half_vector lo, hi;

#define OPENCL_UNARY(op) Vector(op a.lo, op a.hi)
#define OPENCL_BINARY(op) Vector(a.lo op b.lo, a.hi op b.hi)
#define OPENCL_COMPARED(op) mask(a.lo op b.lo, a.hi op b.hi)
  OPENCL_VECTOR_OPERATORS(N, OPENCL_UNARY, OPENCL_BINARY, OPENCL_COMPARED)
#undef OPENCL_UNARY
#undef OPENCL_BINARY
#undef OPENCL_COMPARED
  template <typename A, typename EnableIf<IsNumber<A>::value>::type = 0>
  Vector(A a) : lo(a), hi(a) {}
  Vector(half_vector a, half_vector b) : lo(a), hi(b) {}
};
#undef OPENCL_VECTOR_OPERATORS

// Load and store vectors. The memory needs only the alignment of one number.
template <typename V>
struct Storage;
template <typename T>
struct Storage<Vector<T, 2>> {
  static inline Vector<T, 2> load(const T* p) { return Vector<T, 2>(p[0], p[1]); }
  static inline void store(Vector<T, 2> v, T* p) {
    p[0] = v.s0;
    p[1] = v.s1;
  }
};
template <typename T>
struct Storage<Vector<T, 4>> {
  static inline Vector<T, 4> load(const T* p) { return Vector<T, 4>(p[0], p[1], p[2], p[3]); }
  static inline void store(Vector<T, 4> v, T* p) {
    p[0] = v.s0;
    p[1] = v.s1;
    p[2] = v.s2;
    p[3] = v.s3;
  }
};
template <typename T, int N>
struct Storage<Vector<T, N>> {
  typedef Storage<Vector<T, N / 2>> half_storage;
  static inline Vector<T, N> load(const T* p) {
    return Vector<T, N>(half_storage::load(p), half_storage::load(p + N / 2));
  }
  static inline void store(Vector<T, N> v, T* p) {
    half_storage::store(v.lo, p);
    half_storage::store(v.hi, p + N / 2);
  }
};

// Apply a function of numbers to each component: F::call(a, ...) returns an R.
template <typename R, typename F, typename T, typename... More>
inline Vector<R, 2> each(Vector<T, 2> a, More... more) {
  return Vector<R, 2>(F::call(a.s0, more.s0...), F::call(a.s1, more.s1...));
}
template <typename R, typename F, typename T, typename... More>
inline Vector<R, 4> each(Vector<T, 4> a, More... more) {
  return Vector<R, 4>(F::call(a.s0, more.s0...), F::call(a.s1, more.s1...), F::call(a.s2, more.s2...),
                      F::call(a.s3, more.s3...));
}
template <typename R, typename F, typename T, int N, typename... More>
inline Vector<R, N> each(Vector<T, N> a, More... more) {
  return Vector<R, N>(each<R, F>(a.lo, more.lo...), each<R, F>(a.hi, more.hi...));
}

// Extend a function of one, two or three numbers to vectors. Every argument after the first may also be a number.
#define OPENCL_ON_VECTORS_1(name)            \
  struct Call_##name {                       \
    template <typename T>                    \
    static inline T call(T a) {              \
      return name(a);                        \
    }                                        \
  };                                         \
  template <typename T, int N>               \
  inline Vector<T, N> name(Vector<T, N> a) { \
    return each<T, Call_##name>(a);          \
  }
#define OPENCL_ON_VECTORS_2(name)                                           \
  struct Call_##name {                                                      \
    template <typename T>                                                   \
    static inline T call(T a, T b) {                                        \
      return name(a, b);                                                    \
    }                                                                       \
  };                                                                        \
  template <typename T, int N>                                              \
  inline Vector<T, N> name(Vector<T, N> a, typename Vector<T, N>::self b) { \
    return each<T, Call_##name>(a, b);                                      \
  }
#define OPENCL_ON_VECTORS_3(name)                                                                          \
  struct Call_##name {                                                                                     \
    template <typename T>                                                                                  \
    static inline T call(T a, T b, T c) {                                                                  \
      return name(a, b, c);                                                                                \
    }                                                                                                      \
  };                                                                                                       \
  template <typename T, int N>                                                                             \
  inline Vector<T, N> name(Vector<T, N> a, typename Vector<T, N>::self b, typename Vector<T, N>::self c) { \
    return each<T, Call_##name>(a, b, c);                                                                  \
  }

// Functions of numbers that the compiler provides.
using ::ceil;
using ::copysign;
using ::fabs;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::rint;
using ::sqrt;
using ::trunc;

template <typename T, typename EnableIf<IsNumber<T>::value>::type = 0>
inline T min(T a, T b) {
  return b < a ? b : a;
}
template <typename T, typename EnableIf<IsNumber<T>::value>::type = 0>
inline T max(T a, T b) {
  return a < b ? b : a;
}
template <typename T, typename EnableIf<IsNumber<T>::value>::type = 0>
inline T clamp(T a, T low, T high) {
  return min(max(a, low), high);
}
template <typename T, typename EnableIf<IsNumber<T>::value>::type = 0>
inline T mad(T a, T b, T c) {
  return fma(a, b, c);
}

OPENCL_ON_VECTORS_1(ceil)
OPENCL_ON_VECTORS_1(fabs)
OPENCL_ON_VECTORS_1(floor)
OPENCL_ON_VECTORS_1(rint)
OPENCL_ON_VECTORS_1(sqrt)
OPENCL_ON_VECTORS_1(trunc)
OPENCL_ON_VECTORS_2(copysign)
OPENCL_ON_VECTORS_2(fmax)
OPENCL_ON_VECTORS_2(fmin)
OPENCL_ON_VECTORS_2(fmod)
OPENCL_ON_VECTORS_2(max)
OPENCL_ON_VECTORS_2(min)
OPENCL_ON_VECTORS_3(clamp)
OPENCL_ON_VECTORS_3(fma)
OPENCL_ON_VECTORS_3(mad)
#undef OPENCL_ON_VECTORS_1
#undef OPENCL_ON_VECTORS_2
#undef OPENCL_ON_VECTORS_3

// A true predicate gives 1 for a number, and -1 in a component of a vector.
inline int isnan(float a) { return a != a; }
inline int isnan(double a) { return a != a; }
inline int isinf(float a) { return fabs(a) > 0x1.fffffep127f; }
inline int isinf(double a) { return fabs(a) > 0x1.fffffffffffffp1023; }
inline int isfinite(float a) { return fabs(a) <= 0x1.fffffep127f; }
inline int isfinite(double a) { return fabs(a) <= 0x1.fffffffffffffp1023; }
inline int signbit(float a) { return as_type<int>(a) < 0; }
inline int signbit(double a) { return as_type<long>(a) < 0; }
#define OPENCL_TEST(name)                                                 \
  struct Test_##name {                                                    \
    template <typename T>                                                 \
    static inline typename IntegerOf<sizeof(T), true>::type call(T a) {   \
      return mask_of<typename IntegerOf<sizeof(T), true>::type>(name(a)); \
    }                                                                     \
  };                                                                      \
  template <typename T, int N>                                            \
  inline typename Vector<T, N>::mask name(Vector<T, N> a) {               \
    return each<typename Vector<T, N>::mask_number, Test_##name>(a);      \
  }
OPENCL_TEST(isnan)
OPENCL_TEST(isinf)
OPENCL_TEST(isfinite)
OPENCL_TEST(signbit)
#undef OPENCL_TEST

// any() and all() are true if the sign bit is set in any or in all components. A number has a single component.
template <typename T, typename EnableIf<IsNumber<T>::value>::type = 0>
inline int any(T a) {
  return a < 0;
}
template <typename T, typename EnableIf<IsNumber<T>::value>::type = 0>
inline int all(T a) {
  return a < 0;
}
template <typename T>
inline int any(Vector<T, 2> a) {
  return a.s0 < 0 || a.s1 < 0;
}
template <typename T>
inline int all(Vector<T, 2> a) {
  return a.s0 < 0 && a.s1 < 0;
}
template <typename T>
inline int any(Vector<T, 4> a) {
  return a.s0 < 0 || a.s1 < 0 || a.s2 < 0 || a.s3 < 0;
}
template <typename T>
inline int all(Vector<T, 4> a) {
  return a.s0 < 0 && a.s1 < 0 && a.s2 < 0 && a.s3 < 0;
}
template <typename T, int N>
inline int any(Vector<T, N> a) {
  return any(a.lo) || any(a.hi);
}
template <typename T, int N>
inline int all(Vector<T, N> a) {
  return all(a.lo) && all(a.hi);
}

// Returns b where the condition is true, else a. A number is true if it is not 0, a component if its sign bit is set.
template <typename T, typename C, typename EnableIf<IsNumber<T>::value && IsNumber<C>::value>::type = 0>
inline T select(T a, T b, C condition) {
  return condition ? b : a;
}
struct Select {
  template <typename C, typename T>
  static inline T call(C condition, T a, T b) {
    return condition < 0 ? b : a;
  }
};
template <typename T, int N, typename C>
inline Vector<T, N> select(Vector<T, N> a, Vector<T, N> b, Vector<C, N> condition) {
  return each<T, Select>(condition, a, b);
}

template <typename To>
struct Convert {
  template <typename From>
  static inline To call(From a) {
    return static_cast<To>(a);
  }
};

#define OPENCL_VECTOR_TYPE(type, N)                                                                        \
  typedef Vector<type, N> type##N;                                                                         \
  template <typename From>                                                                                 \
  inline type##N as_##type##N(From a) {                                                                    \
    return as_type<type##N>(a);                                                                            \
  }                                                                                                        \
  template <typename From>                                                                                 \
  inline type##N convert_##type##N(Vector<From, N> a) {                                                    \
    return each<type, Convert<type>>(a);                                                                   \
  }                                                                                                        \
  inline type##N vload##N(size_t offset, const type* p) { return Storage<type##N>::load(p + N * offset); } \
  inline void vstore##N(type##N v, size_t offset, type* p) { Storage<type##N>::store(v, p + N * offset); }
#define OPENCL_TYPE(type)              \
  OPENCL_VECTOR_TYPE(type, 2)          \
  OPENCL_VECTOR_TYPE(type, 4)          \
  OPENCL_VECTOR_TYPE(type, 8)          \
  OPENCL_VECTOR_TYPE(type, 16)         \
  template <typename From>             \
  inline type as_##type(From a) {      \
    return as_type<type>(a);           \
  }                                    \
  template <typename From>             \
  inline type convert_##type(From a) { \
    return static_cast<type>(a);       \
  }
OPENCL_TYPE(int)
OPENCL_TYPE(uint)
OPENCL_TYPE(long)
OPENCL_TYPE(ulong)
OPENCL_TYPE(float)
OPENCL_TYPE(double)
#undef OPENCL_TYPE
#undef OPENCL_VECTOR_TYPE

}  // namespace opencl

#endif
